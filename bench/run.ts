// The bench: starts the server, checks its answers, measures, prints a table and writes bench/results/<day>-<host>.json, which
// it does not if the machine was not quiet, unless --noisy allows it.
// With --device it is a server on that device beside one on the processor that is measured.
// npm run bench [-- --quick] [--accounting | --device NAME] [--noisy]

import { parseArgs } from 'node:util';
import { describeMachine, describeVersions, listSettings } from './machine/machine.ts';
import { expectQuiet, QuietWatch, requireQuiet } from './machine/quiet.ts';
import { reportFault, ToldFault } from './machine/told-fault.ts';
import { formatDeviceReport, writeDeviceReport } from './pages/device-report.ts';
import { formatOwnReport, type OwnReport, TARGETS, writeOwnReport } from './pages/own-report.ts';
import { measureAccounting } from './parts/accounting.ts';
import { measureDevice } from './parts/device.ts';
import { measureOwnServer } from './parts/own-server.ts';
import { requireDevice } from './servers/device-servers.ts';

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    accounting: { type: 'boolean', default: false },
    noisy: { type: 'boolean', default: false },
    device: { type: 'string' },
  },
});

function describeRun() {
  return {
    format: 1,
    startedAt: new Date().toISOString(),
    isQuick: values.quick,
    machine: describeMachine(),
    versions: describeVersions(),
    settings: listSettings(),
  } as const;
}

async function runOnDevice(device: string): Promise<void> {
  if (values.accounting) throw new ToldFault('--accounting and --device are two benches.');
  requireDevice(device);
  await expectQuiet(values.noisy);
  const [head, watch] = [describeRun(), new QuietWatch()];
  const figures = await measureDevice({ device, isQuick: values.quick, say });
  const report = { ...head, othersShare: watch.othersShare(), figures };
  process.stdout.write(`${formatDeviceReport(report)}\n\n`);
  requireQuiet(report.othersShare, values.noisy);
  say(`written: ${writeDeviceReport(report)}`);
}

async function runAlone(): Promise<void> {
  await expectQuiet(values.noisy);
  const head = { ...describeRun(), targets: TARGETS };
  const watch = new QuietWatch();
  const own = values.accounting ? undefined : await measureOwnServer(values.quick, say);
  const accounting = await measureAccounting(values.quick, say);
  const report: OwnReport = { ...head, othersShare: watch.othersShare(), own, accounting };
  process.stdout.write(`${formatOwnReport(report)}\n\n`);
  requireQuiet(report.othersShare, values.noisy);
  say(`written: ${writeOwnReport(report)}`);
}

await reportFault(() => (values.device === undefined ? runAlone() : runOnDevice(values.device)));
