// The bench: starts the server, checks its answers, measures, prints a table and writes bench/results/<day>-<host>.json, which
// it does not if the machine was not quiet, unless --noisy allows it.
// npm run bench [-- --quick] [--accounting] [--noisy]

import { parseArgs } from 'node:util';
import { checkGolden } from './answers/compare-answers.ts';
import { joinRuns, runClosedLoop } from './load/closed-loop.ts';
import { Loads, seedOf, streamOf } from './load/loads.ts';
import { summariseLatencies } from './load/statistics.ts';
import type { DecisionSize } from './load/workload.ts';
import { describeMachine, describeVersions, listSettings } from './machine/machine.ts';
import { expectQuiet, QuietWatch, reportFault, requireQuiet } from './machine/quiet.ts';
import {
  formatOwnReport,
  type GridCell,
  type OwnFigures,
  type OwnReport,
  TARGETS,
  writeOwnReport,
} from './pages/own-report.ts';
import { measureAccounting } from './parts/accounting.ts';
import { measureBareLimit } from './parts/bare.ts';
import { measureLatencyOverhead, timeDecisions } from './parts/latency.ts';
import { measureMemory, measurePeak } from './parts/memory.ts';
import { readEngineSettings } from './servers/bare-loop.ts';
import { type OwnServer, withFolder, withUmpire } from './servers/umpire.ts';

const CONCURRENCIES = [1, 2, 4, 8, 16, 32];
const DOCUMENT_1000: DecisionSize = { stateTokens: 1000, questions: 8, kind: 'choice' };

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

async function measure(own: OwnServer, isQuick: boolean): Promise<Omit<OwnFigures, 'readyMs'>> {
  const { client } = own;
  say('golden answers');
  const golden = await checkGolden(client);
  const engine = await readEngineSettings(own);
  say('memory');
  const memory = await measureMemory(own, isQuick);
  say('overhead against bare loops');
  const latencyOverhead = await measureLatencyOverhead(own, isQuick ? 5 : 20, isQuick ? 20 : 50);
  const throughput = await measureBareLimit(own, isQuick ? 3 : 5, isQuick ? 2000 : 6000);
  say('one document, eight questions');
  await timeDecisions(client, DOCUMENT_1000, 5);
  const document = summariseLatencies(await timeDecisions(client, DOCUMENT_1000, isQuick ? 40 : 200));
  const grid = await measureGrid(own, isQuick);
  say('the largest documents');
  const peak = await measurePeak(own);
  return { engine, golden, memory, latencyOverhead, throughput, document, grid, peak };
}

async function measureGrid({ client }: OwnServer, isQuick: boolean): Promise<GridCell[]> {
  const cells: GridCell[] = [];
  const durationMs = isQuick ? 1000 : 4000;
  for (const load of (await Loads.open()).grid(isQuick)) {
    for (const concurrency of isQuick ? [1, 8] : CONCURRENCIES) {
      say(`${load.id}, ${concurrency} clients`);
      const limits = { concurrency, durationMs, leastReplies: 3 * concurrency, maxMs: 5 * durationMs };
      const run = await runClosedLoop({ client, next: streamOf(load, seedOf(load.id, concurrency)), ...limits });
      const { requestsPerSecondBySlice, clientShare, ...figures } = joinRuns([run]);
      cells.push({ mix: load.id, concurrency, ...figures });
    }
  }
  return cells;
}

/** A second start is the one that counts: the first fills the cache of optimised graphs. */
async function measureServer(isQuick: boolean): Promise<OwnFigures> {
  return await withFolder(async (dataFolder) => {
    say('first start');
    const start = { dataFolder, isMetered: false };
    const firstStart = await withUmpire(start, async ({ server }) => server.readyMs);
    say('second start');
    return await withUmpire(start, async (own) => {
      return { readyMs: { firstStart, secondStart: own.server.readyMs }, ...(await measure(own, isQuick)) };
    });
  });
}

async function run({ isQuick, isNoisyAllowed, part }: { isQuick: boolean; isNoisyAllowed: boolean; part?: string }) {
  await expectQuiet(isNoisyAllowed);
  const head = {
    format: 1,
    startedAt: new Date().toISOString(),
    isQuick,
    machine: describeMachine(),
    versions: describeVersions(),
    settings: listSettings(),
    targets: TARGETS,
  } as const;
  const watch = new QuietWatch();
  const figures = part === undefined ? await measureServer(isQuick) : undefined;
  const accounting = await measureAccounting(isQuick, say);
  const report: OwnReport = { ...head, othersShare: watch.othersShare(), ...figures, accounting };
  process.stdout.write(`${formatOwnReport(report, figures)}\n\n`);
  requireQuiet(report.othersShare, isNoisyAllowed);
  say(`written: ${writeOwnReport(report, part)}`);
}

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    accounting: { type: 'boolean', default: false },
    noisy: { type: 'boolean', default: false },
  },
});
const part = values.accounting ? { part: 'accounting' } : {};
await reportFault(() => run({ isQuick: values.quick, isNoisyAllowed: values.noisy, ...part }));
