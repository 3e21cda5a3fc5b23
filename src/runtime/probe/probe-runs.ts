// What is run in a probe: the family as it will serve, on the probe set and on rows of growing length.

import { readFileSync, writeFileSync } from 'node:fs';
import { AppError } from '../../domain/errors.ts';
import { PairScorer } from '../families/pair-scorer/pair-scorer.ts';
import { StateMemory } from '../families/split-encoder/state-memory.ts';
import { TextEncoder } from '../families/text-encoder/text-encoder.ts';
import { type ModelFamily, type ModelTask, performTask } from '../family-tasks.ts';
import {
  type CaseRun,
  type DecidingFamily,
  isRerankerFamily,
  runDecisionCase,
  runEmbeddingCase,
  runRankingCase,
} from '../golden-runs.ts';
import { loadModel, makeFamily, openModel } from '../load-model.ts';
import type { Manifest, ModelFolder } from '../model-folder/manifest.ts';
import type { ProbeAnswer, ProbeOrder, ProbeReport } from './probe-messages.ts';
import { PROBE_DECISIONS, PROBE_RANKINGS, PROBE_TEXTS } from './probe-set.ts';

const BYTES_PER_KB = 1024;
/** A word of one token or few in every vocabulary. */
const WORD = 'the ';

/** No family that is probed keeps documents. */
function settings() {
  return {
    device: 'cpu',
    threads: 1,
    cacheFolder: undefined,
    turn: new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT),
    memory: new StateMemory({ keptBytes: 0, scratchBytes: 0 }),
  };
}

/** What is too long for the model is left out. @throws what opening and running say */
export async function answerProbe(folder: ModelFolder, precision: string): Promise<ProbeAnswer[]> {
  const family = await makeFamily(await openModel(folder, precision, settings()));
  const answers: ProbeAnswer[] = [];
  for (const [place, run] of listRuns(family).entries()) {
    const done = await unlessTooLong(run);
    if (done === undefined) continue;
    const values = done.answers.map((answer) => Array.from(answer));
    answers.push({ place, inputTokens: done.inputTokens, values });
  }
  return answers;
}

export async function startFolder(folder: ModelFolder): Promise<void> {
  await loadModel(folder, settings());
}

/** @param order the lengths, growing. @param send what is told after each, and before the first */
export async function measureLengths(
  { folder, precision, lengths }: Extract<ProbeOrder, { kind: 'lengths' }>,
  send: (report: ProbeReport) => Promise<void>,
): Promise<void> {
  const opened = await openModel(folder, precision, settings());
  await listRuns(makeFamily(opened))[0]?.();
  const residentBytes = readMemory('VmRSS') ?? process.memoryUsage().rss;
  await send({ kind: 'loaded', residentBytes });
  for (const tokens of lengths) {
    const manifest = withLimit(folder.manifest, tokens);
    const family = makeFamily({ ...opened, folder: { ...folder, manifest } });
    const task = await longestTask(family, tokens);
    forgetPeak();
    await performTask(family, task);
    const peak = readMemory('VmHWM') ?? process.resourceUsage().maxRSS * BYTES_PER_KB;
    await send({ kind: 'length', tokens, peakBytes: Math.max(0, peak - residentBytes) });
  }
}

function listRuns(family: ModelFamily): (() => Promise<CaseRun>)[] {
  if (family instanceof TextEncoder) return PROBE_TEXTS.map((text) => () => runEmbeddingCase(family, text));
  if (isRerankerFamily(family)) return PROBE_RANKINGS.map((ranking) => () => runRankingCase(family, ranking));
  return PROBE_DECISIONS.map((decision) => () => runDecisionCase(family as DecidingFamily, decision));
}

async function unlessTooLong<T>(run: () => Promise<T>): Promise<T | undefined> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof AppError && error.code === 'context_length_exceeded') return undefined;
    throw error;
  }
}

/** The longest text of one word that the family takes: by halving, for nobody knows how many tokens a word is. */
async function longestTask(family: ModelFamily, limit: number): Promise<ModelTask> {
  const { count, run } = longTasks(family);
  let [fits, tooMany] = [0, limit + 1];
  while (tooMany - fits > 1) {
    const words = Math.floor((fits + tooMany) / 2);
    const isTaken = (await unlessTooLong(async () => performTask(family, count(WORD.repeat(words))))) !== undefined;
    if (isTaken) fits = words;
    else tooMany = words;
  }
  return run(WORD.repeat(fits));
}

interface LongTasks {
  readonly count: (text: string) => ModelTask;
  readonly run: (text: string) => ModelTask;
}

function longTasks(family: ModelFamily): LongTasks {
  const modelId = '';
  if (family instanceof TextEncoder) {
    const embed = (text: string) => ({ modelId, inputs: [{ place: 0, input: text }], longInputs: 'refuse' as const });
    const form = { dimensions: undefined, encoding: 'float' as const };
    return {
      count: (text) => ({ kind: 'count-embedding', ...embed(text) }),
      run: (text) => ({ kind: 'embed', ...embed(text), ...form }),
    };
  }
  if (family instanceof PairScorer) {
    const score = (second: string) => ({ modelId, first: 'a', pairs: [{ place: 0, second }], truncate: false });
    return {
      count: (text) => ({ kind: 'count-pairs', ...score(text) }),
      run: (text) => ({ kind: 'score-pairs', ...score(text) }),
    };
  }
  const questions = PROBE_DECISIONS[0]?.questions.slice(0, 1) ?? [];
  return {
    count: (state) => ({ kind: 'count-decision', modelId, state, questions }),
    run: (state) => ({ kind: 'decide', modelId, state, questions }),
  };
}

/** The same model, reading rows of that many tokens at most. */
function withLimit(manifest: Manifest, tokens: number): Manifest {
  switch (manifest.family) {
    case 'text-encoder':
      return { ...manifest, limits: { input_tokens: tokens } };
    case 'pair-scorer':
      return { ...manifest, limits: { pair_tokens: tokens } };
    case 'marker-encoder':
      return { ...manifest, limits: { ...manifest.limits, row_tokens: tokens } };
    case 'split-encoder':
      return manifest;
  }
}

/** Linux tells the most memory that was ever resident, and forgets it when asked to. */
function forgetPeak(): void {
  try {
    writeFileSync('/proc/self/clear_refs', '5');
  } catch {
    // Then the peak is that of all so far, which lengths that grow make true again.
  }
}

/** @returns bytes; undefined where the system does not tell */
function readMemory(name: 'VmRSS' | 'VmHWM'): number | undefined {
  try {
    const [, kilobytes] =
      new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
    return kilobytes === undefined ? undefined : Number(kilobytes) * BYTES_PER_KB;
  } catch {
    return undefined;
  }
}
