// The bench: starts the server, checks its answers, measures, prints a table and writes bench/results/<day>-<host>.json, which
// it does not if the machine was not quiet, unless --noisy allows it.
// npm run bench [-- --quick] [--accounting] [--noisy]

import { parseArgs } from 'node:util';
import { describeMachine, describeVersions, listSettings } from './machine/machine.ts';
import { expectQuiet, QuietWatch, reportFault, requireQuiet } from './machine/quiet.ts';
import { formatOwnReport, type OwnReport, TARGETS, writeOwnReport } from './pages/own-report.ts';
import { measureAccounting } from './parts/accounting.ts';
import { measureOwnServer } from './parts/own-server.ts';

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    accounting: { type: 'boolean', default: false },
    noisy: { type: 'boolean', default: false },
  },
});

await reportFault(async () => {
  await expectQuiet(values.noisy);
  const head = {
    format: 1,
    startedAt: new Date().toISOString(),
    isQuick: values.quick,
    machine: describeMachine(),
    versions: describeVersions(),
    settings: listSettings(),
    targets: TARGETS,
  } as const;
  const watch = new QuietWatch();
  const own = values.accounting ? undefined : await measureOwnServer(values.quick, say);
  const accounting = await measureAccounting(values.quick, say);
  const report: OwnReport = { ...head, othersShare: watch.othersShare(), own, accounting };
  process.stdout.write(`${formatOwnReport(report)}\n\n`);
  requireQuiet(report.othersShare, values.noisy);
  say(`written: ${writeOwnReport(report)}`);
});
