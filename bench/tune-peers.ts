// Looks for the settings with which a Python server is fastest on this machine, and prints all that were tried.
// node bench/tune-peers.ts decisions|infinity|sentence-transformers --environments DIR [--rounds N] [--seconds N] [--only PATTERN]

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { BenchClient } from './load/client.ts';
import { runClosedLoop } from './load/load.ts';
import { median } from './load/statistics.ts';
import { requestFor } from './load/wire.ts';
import { makeDecision, makeDocument } from './load/workload.ts';
import { formatTable } from './pages/table.ts';
import { sumCpuMs } from './servers/cpu-time.ts';
import { listDecisionCandidates } from './servers/decision-peers.ts';
import { listInfinityCandidates, listSentenceTransformersCandidates } from './servers/embedding-peers.ts';
import type { Peer, PeerJob, RunningPeer } from './servers/peer.ts';
import { DEFAULT_ENVIRONMENTS_FOLDER } from './servers/python-environment.ts';
import { makeUmpirePeer } from './servers/umpire-peer.ts';

interface Load {
  readonly name: string;
  readonly concurrency: number;
  readonly makeJob: () => PeerJob;
}

interface Samples {
  readonly requestsPerSecond: number[];
  readonly p99Ms: number[];
  /** What the server's processes spent, per request: hardly moved by what else the machine does. */
  readonly cpuMs: number[];
}

const makeSamples = (): Samples => ({ requestsPerSecond: [], p99Ms: [], cpuMs: [] });
const decide = (stateTokens: number) => (): PeerJob => {
  return { task: 'decision', body: makeDecision({ stateTokens, questions: 1, kind: 'choice' }) };
};
const DECISION_LOADS: readonly Load[] = [
  { name: '128 × 1', concurrency: 1, makeJob: decide(128) },
  { name: '128 × 8', concurrency: 8, makeJob: decide(128) },
  { name: '512 × 8', concurrency: 8, makeJob: decide(512) },
];
/** 32 texts from 8 to 248 tokens: what an indexing job sends. */
const embedMixed = (): PeerJob => ({
  task: 'embedding',
  inputs: Array.from({ length: 32 }, (_, index) => makeDocument(8 + ((index * 104) % 241))),
});
const EMBEDDING_LOADS: readonly Load[] = [
  { name: '1 × 16, 8 clients', concurrency: 8, makeJob: () => ({ task: 'embedding', inputs: [makeDocument(16)] }) },
  { name: '32 × 8–248, 4 clients', concurrency: 4, makeJob: embedMixed },
];

const TARGETS: Readonly<Record<string, { list: (environments: string) => readonly Peer[]; loads: readonly Load[] }>> = {
  decisions: { list: listDecisionCandidates, loads: DECISION_LOADS },
  infinity: { list: listInfinityCandidates, loads: EMBEDDING_LOADS },
  'sentence-transformers': { list: listSentenceTransformersCandidates, loads: EMBEDDING_LOADS },
};

async function measure(peer: RunningPeer, { concurrency, makeJob, name }: Load, durationMs: number, into: Samples) {
  const client = new BenchClient(peer.origin, peer.apiKey, concurrency);
  const mix = { name, path: requestFor(makeJob()).path, makeBody: () => requestFor(makeJob()).body };
  const limits = { durationMs, minSamples: 1, maxDurationMs: 4 * durationMs };
  const cpuBeforeMs = sumCpuMs(peer.server.pids());
  const { requestsPerSecond, latency, errors } = await runClosedLoop({ client, mix, concurrency, ...limits });
  // The first answer of each client is not among the samples.
  into.cpuMs.push((sumCpuMs(peer.server.pids()) - cpuBeforeMs) / (latency.samples + concurrency));
  await client.close();
  if (errors > 0) throw new Error(`${peer.peer.title}: ${errors} requests failed.`);
  into.requestsPerSecond.push(requestsPerSecond);
  into.p99Ms.push(latency.p99Ms);
}

/** All servers run all the time and take turns: what the machine does meanwhile, it does to all of them. */
async function runRounds(running: readonly RunningPeer[], loads: readonly Load[], rounds: number, durationMs: number) {
  const samples = running.map(() => loads.map(makeSamples));
  for (let round = -1; round < rounds; round++) {
    for (const [place, load] of loads.entries()) {
      for (const [index, peer] of running.entries()) {
        const kept = samples[index]?.[place];
        // The round before the first is for warming up.
        const into = round < 0 || kept === undefined ? makeSamples() : kept;
        await measure(peer, load, round < 0 ? Math.min(durationMs, 1000) : durationMs, into);
      }
    }
    process.stderr.write(`round ${round + 1} of ${rounds}\n`);
  }
  return samples;
}

async function tune(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      environments: { type: 'string', default: DEFAULT_ENVIRONMENTS_FOLDER },
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '4' },
      only: { type: 'string', default: '' },
    },
  });
  const target = TARGETS[positionals[0] ?? ''];
  if (target === undefined) throw new Error(`Say which of ${Object.keys(TARGETS).join(', ')}.`);
  // Ours first, to see what the settings are worth beside it.
  const candidates = [makeUmpirePeer(), ...target.list(values.environments)].filter(({ title }) =>
    new RegExp(values.only).test(title),
  );
  const folder = mkdtempSync(join(tmpdir(), 'umpire-tune-'));
  const running: RunningPeer[] = [];
  try {
    for (const candidate of candidates) running.push(await candidate.start(mkdtempSync(join(folder, 'peer-'))));
    const samples = await runRounds(running, target.loads, Number(values.rounds), Number(values.seconds) * 1000);
    const head = ['settings', ...target.loads.flatMap(({ name }) => [`${name} /s`, 'p99 ms', 'CPU ms']), 'MB'];
    const rows = running.map(({ peer, server }, index) => [
      peer.title,
      ...(samples[index] ?? []).flatMap((sample) => [
        median(sample.requestsPerSecond),
        median(sample.p99Ms),
        median(sample.cpuMs),
      ]),
      Math.round((server.proportionalBytes() ?? Number.NaN) / 1e6),
    ]);
    process.stdout.write(`${formatTable([head, ...rows])}\n`);
  } finally {
    await Promise.all(running.map((peer) => peer.stop()));
    rmSync(folder, { recursive: true, force: true });
  }
}

await tune();
