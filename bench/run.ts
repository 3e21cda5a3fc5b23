// The bench: starts the server, checks its answers, measures, prints a table and writes bench/results/<day>-<host>.json.
// npm run bench [-- --quick] [--accounting]

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { checkGolden } from './answers/golden-check.ts';
import { BenchClient } from './load/client.ts';
import { type LoadResult, runClosedLoop } from './load/load.ts';
import { summariseLatencies } from './load/statistics.ts';
import { type DecisionSize, listMixes, type Mix, makeDecision } from './load/workload.ts';
import { describeMachine, describeVersions, listSettings } from './pages/hardware.ts';
import {
  type AccountingOnlyReport,
  type BenchReport,
  formatAccountingOnly,
  formatReport,
  type ReportHead,
  TARGETS,
  writeReport,
} from './pages/report.ts';
import { measureAccounting } from './parts/accounting.ts';
import { measureMemory, measurePeak } from './parts/memory.ts';
import { measureLatencyOverhead, measureThroughputRatio, timeDecisions } from './parts/overhead.ts';
import { BareLoops } from './servers/bare-loop.ts';
import { API_KEY, NullEndpoint, ServerProcess } from './servers/child-processes.ts';
import { type EngineSettings, readEngineSettings } from './servers/engine-settings.ts';

const CONCURRENCIES = [1, 2, 4, 8, 16, 32];
const MAX_CONCURRENCY = 32;
const ONE_QUESTION_128: DecisionSize = { stateTokens: 128, questions: 1, kind: 'choice' };
const ONE_QUESTION_512: DecisionSize = { stateTokens: 512, questions: 1, kind: 'choice' };
const DOCUMENT_1000: DecisionSize = { stateTokens: 1000, questions: 8, kind: 'choice' };

interface Bench {
  readonly isQuick: boolean;
  readonly dataDir: string;
  readonly server: ServerProcess;
  readonly client: BenchClient;
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Before anything is measured: the load of the machine is that of others. */
function describeRun(isQuick: boolean): ReportHead {
  return {
    format: 1,
    startedAt: new Date().toISOString(),
    isQuick,
    machine: describeMachine(),
    versions: describeVersions(),
    settings: listSettings(),
    targets: TARGETS,
  };
}

type ServerFigures = Omit<BenchReport, keyof AccountingOnlyReport>;

async function measure(bench: Bench, firstStartMs: number): Promise<ServerFigures> {
  const { isQuick, server, client } = bench;
  say('golden answers');
  const golden = await checkGolden(client);
  const engine = await readEngineSettings(client);
  say('memory');
  const memory = await measureMemory(server, client, isQuick);
  say('overhead against bare loops');
  const latencyOverhead = await measureLatency(bench, engine);
  const throughput = await measureThroughput(bench, engine);
  say('one document, eight questions');
  await timeDecisions(client, DOCUMENT_1000, 5);
  const document = summariseLatencies(await timeDecisions(client, DOCUMENT_1000, isQuick ? 40 : 200));
  const grid = await measureGrid(bench);
  say('the largest documents');
  const peak = await measurePeak(server, client);
  const readyMs = { firstStart: firstStartMs, secondStart: server.readyMs };
  return { engine, readyMs, golden, memory, latencyOverhead, throughput, document, grid, peak };
}

async function startLoops({ dataDir }: Bench, engine: EngineSettings, size: DecisionSize): Promise<BareLoops> {
  return await BareLoops.start({ ...engine, decision: makeDecision(size), cacheFolder: join(dataDir, 'cache') });
}

async function measureLatency(bench: Bench, engine: EngineSettings): Promise<BenchReport['latencyOverhead']> {
  const loops = await startLoops(bench, { ...engine, workers: 1 }, ONE_QUESTION_128);
  const [rounds, samplesPerRound] = bench.isQuick ? [5, 20] : [20, 50];
  try {
    const options = { client: bench.client, loops, size: ONE_QUESTION_128, rounds, samplesPerRound };
    return await measureLatencyOverhead(options);
  } finally {
    await loops.stop();
  }
}

async function measureThroughput(bench: Bench, engine: EngineSettings): Promise<BenchReport['throughput']> {
  const loops = await startLoops(bench, engine, ONE_QUESTION_512);
  const endpoint = await NullEndpoint.start();
  const nullClient = new BenchClient(endpoint.origin, API_KEY, MAX_CONCURRENCY);
  const makeBody = (): string => JSON.stringify(makeDecision(ONE_QUESTION_512));
  const mix: Mix = { name: 'decide 512 × 1', path: '/ai/v1/systemone', makeBody };
  const [rounds, durationMs] = bench.isQuick ? [3, 2000] : [5, 6000];
  try {
    const load = { client: bench.client, nullClient, loops, mix, concurrency: 8, rounds, durationMs };
    return await measureThroughputRatio(load);
  } finally {
    await nullClient.close();
    endpoint.stop();
    await loops.stop();
  }
}

async function measureGrid({ isQuick, client }: Bench): Promise<LoadResult[]> {
  const results: LoadResult[] = [];
  const durationMs = isQuick ? 1000 : 4000;
  for (const mix of listMixes(isQuick)) {
    for (const concurrency of isQuick ? [1, 8] : CONCURRENCIES) {
      say(`${mix.name}, ${concurrency} clients`);
      const limits = { durationMs, minSamples: 3 * concurrency, maxDurationMs: 5 * durationMs };
      results.push(await runClosedLoop({ client, mix, concurrency, ...limits }));
    }
  }
  return results;
}

/** A second start is the one that counts: the first fills the cache of optimised graphs. */
async function withServer<T>(
  dataDir: string,
  use: (server: ServerProcess, firstStartMs: number) => Promise<T>,
): Promise<T> {
  say('first start');
  const first = await ServerProcess.start(dataDir);
  await first.stop();
  say('second start');
  const server = await ServerProcess.start(dataDir);
  try {
    const result = await Promise.race([use(server, first.readyMs), server.lost]);
    await server.stop();
    return result;
  } catch (error) {
    server.kill();
    throw error;
  }
}

async function measureServer(isQuick: boolean): Promise<ServerFigures> {
  const dataDir = mkdtempSync(join(tmpdir(), 'umpire-bench-'));
  const figures = await withServer(dataDir, async (server, firstStartMs) => {
    const client = new BenchClient(server.origin, API_KEY, MAX_CONCURRENCY);
    const measured = await measure({ isQuick, dataDir, server, client }, firstStartMs);
    await client.close();
    return measured;
  });
  rmSync(dataDir, { recursive: true, force: true });
  return figures;
}

const { values } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, accounting: { type: 'boolean', default: false } },
});
const head = describeRun(values.quick);
if (values.accounting) {
  const report = { ...head, accounting: await measureAccounting(values.quick, say) };
  process.stdout.write(`${formatAccountingOnly(report)}\n\n`);
  say(`written: ${writeReport(report, 'accounting')}`);
} else {
  const figures = await measureServer(values.quick);
  const report = { ...head, ...figures, accounting: await measureAccounting(values.quick, say) };
  process.stdout.write(`${formatReport(report)}\n\n`);
  say(`written: ${writeReport(report)}`);
}
