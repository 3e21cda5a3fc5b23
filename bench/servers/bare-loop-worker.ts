// One bare loop: the graphs of a decision, run again and again on inputs that the server's own code prepared once. What is
// left out is what the server adds: HTTP, queue, thread hop, tokenizer, copies, readout.

import { parentPort, workerData } from 'node:worker_threads';
import type { Question } from '../../src/domain/question.ts';
import { SplitEncoder } from '../../src/runtime/families/split-encoder/split-encoder.ts';
import { StateMemory } from '../../src/runtime/families/split-encoder/state-memory.ts';
import { openGraphs } from '../../src/runtime/graph-opener.ts';
import { readFolderFile } from '../../src/runtime/model-folder/folder-file.ts';
import { readModelFolder } from '../../src/runtime/model-folder/model-folder.ts';
import { findPrecision } from '../../src/runtime/model-folder/precision.ts';
import { floatTensor, type GraphSession, type Tensor } from '../../src/runtime/session.ts';
import { BertTokenizer } from '../../src/runtime/tokenizer/bert-tokenizer.ts';

export interface BareLoopSetup {
  readonly modelFolder: string;
  readonly cacheFolder: string;
  readonly threads: number;
  readonly state: string;
  readonly questions: readonly Question[];
}

/** At most so many runs, and for at most so long; null: the end. */
export type BareLoopRequest = { readonly runs: number; readonly durationMs: number } | null;

export interface BareLoopReply {
  /** `[runs]`: time of all graphs of the decision. */
  readonly latenciesMs: readonly number[];
  readonly elapsedMs: number;
}

type Feeds = Readonly<Record<string, Tensor>>;

/** Run again in the way it was run: into tensors that are kept, or into new ones. */
interface RecordedRun {
  readonly session: GraphSession;
  readonly feeds: Feeds;
  readonly outputs?: Feeds;
}

const WARM_UP_RUNS = 5;
/** A short document's, as a worker has it. */
const SCRATCH_BYTES = 12 * 1024 * 1024;

/** Passes a session's runs on and keeps a copy of what went in. */
function record(session: GraphSession, runs: RecordedRun[]): GraphSession {
  return {
    outputs: session.outputs,
    run: (feeds) => {
      runs.push({ session, feeds: copyFeeds(feeds) });
      return session.run(feeds);
    },
    runInto: (feeds, outputs) => {
      runs.push({ session, feeds: copyFeeds(feeds), outputs: copyFeeds(outputs) });
      return session.runInto(feeds, outputs);
    },
    close: () => session.close(),
  };
}

/** The server's code uses its buffers again, so floats are copied; it makes new token ids each time. */
function copyFeeds(feeds: Feeds): Feeds {
  const copies = Object.entries(feeds).map(([name, tensor]): [string, Tensor] => {
    const isFloat = tensor.data instanceof Float32Array;
    return [name, isFloat ? floatTensor(tensor.data.slice(), tensor.dims) : tensor];
  });
  return Object.fromEntries(copies);
}

async function prepareRuns(setup: BareLoopSetup): Promise<readonly RecordedRun[]> {
  const folder = await readModelFolder(setup.modelFolder);
  if (folder.manifest.family !== 'split-encoder') throw new Error('The bare loop knows decision models only.');
  const settings = {
    device: 'cpu',
    threads: setup.threads,
    cacheFolder: setup.cacheFolder,
    turn: new SharedArrayBuffer(4),
  };
  const files = folder.manifest.graphs[findPrecision(folder, 'cpu') ?? ''] ?? {};
  const { sessions } = await openGraphs(folder, files, settings);
  const runs: RecordedRun[] = [];
  const recorded = (role: string): GraphSession => {
    const session = sessions.get(role);
    if (session === undefined) throw new Error(`The model has no graph ${role}.`);
    return record(session, runs);
  };
  const model = new SplitEncoder({
    manifest: folder.manifest,
    tokenizer: new BertTokenizer(JSON.parse((await readFolderFile(folder.path, 'tokenizer.json')).toString())),
    encode: recorded('encode'),
    answer: recorded('answer'),
    head: recorded('head'),
    decide: sessions.has('decide') ? recorded('decide') : undefined,
    memory: new StateMemory({ keptBytes: 0, scratchBytes: SCRATCH_BYTES }),
  });
  await model.decide(setup);
  return runs;
}

/** At once, as the server does: left to the collector, outputs would pile up and slow the loop down. */
function free(outputs: Feeds): void {
  for (const { data } of Object.values(outputs)) {
    if (data instanceof Float32Array && data.buffer instanceof ArrayBuffer) data.buffer.transfer(0);
  }
}

async function runOnce(runs: readonly RecordedRun[]): Promise<number> {
  const startedMs = performance.now();
  for (const { session, feeds, outputs } of runs) {
    if (outputs === undefined) free(await session.run(feeds));
    else await session.runInto(feeds, outputs);
  }
  return performance.now() - startedMs;
}

async function answer(limits: NonNullable<BareLoopRequest>): Promise<BareLoopReply> {
  const startedMs = performance.now();
  const elapsedMs = (): number => performance.now() - startedMs;
  const latenciesMs: number[] = [];
  while (latenciesMs.length < limits.runs && elapsedMs() < limits.durationMs) latenciesMs.push(await runOnce(runs));
  return { latenciesMs, elapsedMs: elapsedMs() };
}

const port = parentPort;
if (port === null) throw new Error('This file is a worker thread.');
const runs = await prepareRuns(workerData);
for (let run = 0; run < WARM_UP_RUNS; run++) await runOnce(runs);
port.on('message', async (request: BareLoopRequest) => {
  if (request === null) port.close();
  else port.postMessage(await answer(request));
});
port.postMessage('ready');
