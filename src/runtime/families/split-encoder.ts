// Family `split-encoder`: a document is encoded once, window by window; every question is answered against its keys and
// values. The contract is models/README.md. Alone a worker does a whole decision; several may share one, by windows
// first and by questions then, with the same bits, because every run is the same run.

import { softmax, temperatureOf } from '../../domain/temperature.ts';
import type { SplitEncoderManifest } from '../manifest.ts';
import type { AnswerReply, AnswerTask, DecideReply, DecideTask, EncodeReply, EncodeTask } from '../messages.ts';
import type { GraphSession } from '../session.ts';
import type { WordPieceTokenizer } from '../tokenizer.ts';
import { type DecisionTexts, tokenizeDecision } from './decision-tokens.ts';
import { KeyValueBuffers, type KeyValueShape, type KeyValues } from './key-values.ts';
import {
  cutWindows,
  type PreparedQuestion,
  type PromptLimits,
  prepareQuestion,
  type TokenizedQuestion,
  tokenizeQuestion,
} from './prompt.ts';
import { restoreOrder } from './readout.ts';
import { readShares, writeShare } from './shared-windows.ts';
import { SplitGraphs, type Window } from './split-graphs.ts';

/** Documents up to this many tokens reuse one set of buffers; 12 MB in the shape of `kev`. */
const KEPT_TOKENS = 640;
const STATE_SEGMENT = 0;
const INSTRUCTION_SEGMENT = 1;

export interface SplitEncoderParts {
  readonly manifest: SplitEncoderManifest;
  readonly tokenizer: WordPieceTokenizer;
  readonly encode: GraphSession;
  readonly answer: GraphSession;
  readonly head: GraphSession;
}

export class SplitEncoder {
  readonly manifest: SplitEncoderManifest;
  readonly tokenizer: WordPieceTokenizer;
  private readonly graphs: SplitGraphs;
  private readonly limits: PromptLimits;
  private readonly shape: KeyValueShape;
  private readonly stateBuffers: KeyValueBuffers;
  private readonly questionBuffers: KeyValueBuffers;

  constructor({ manifest, tokenizer, ...graphs }: SplitEncoderParts) {
    const { windows, branches, shape } = manifest;
    this.manifest = manifest;
    this.tokenizer = tokenizer;
    this.graphs = new SplitGraphs(shape, graphs);
    this.limits = {
      windowTokens: windows.tokens,
      maxWindowIndex: windows.max_index,
      branchTokens: branches.max_tokens,
      branchScores: branches.max_scores,
    };
    this.shape = { layers: shape.layers, heads: shape.heads, headSize: shape.head_size };
    this.stateBuffers = new KeyValueBuffers(this.shape, KEPT_TOKENS);
    // Only questions with more than a window of instructions need a copy of their own: nothing is kept.
    this.questionBuffers = new KeyValueBuffers(this.shape, 0);
  }

  /** What `decide` would bill. @throws AppError context_length_exceeded */
  countTokens(texts: DecisionTexts): number {
    return tokenizeDecision(texts, this).inputTokens;
  }

  /** A whole decision. @throws AppError context_length_exceeded */
  async decide(task: Pick<DecideTask, 'state' | 'questions'>): Promise<DecideReply> {
    const startedMs = performance.now();
    const { stateIds, questions, inputTokens } = tokenizeDecision(task, this);
    const tokenizedMs = performance.now();
    const windows = this.stateWindows(stateIds);
    const encoded = this.graphs.encodeWindows(windows);
    const probabilities = await this.answerAll(questions, encoded, countTokens(windows));
    const stateTokens = countTokens(windows);
    return { probabilities, inputTokens, stateTokens, keptTokens: 0, ...timesSince(startedMs, tokenizedMs) };
  }

  /** One share of a document's windows. @throws AppError context_length_exceeded */
  async encodeShare(task: Omit<EncodeTask, 'kind' | 'modelId'>): Promise<EncodeReply> {
    const startedMs = performance.now();
    const { stateIds, inputTokens } = tokenizeDecision(task, this);
    const tokenizedMs = performance.now();
    const all = this.stateWindows(stateIds);
    const [from, to] = [task.share, task.share + 1].map((share) => Math.floor((all.length * share) / task.shares));
    const windows = all.slice(from, to);
    const keys = windows.map(({ ids }) => ({ tokens: ids.length, key: '' }));
    const share = await writeShare(this.graphs.encodeWindows(windows), keys, {
      shape: this.shape,
      memory: task.memory,
    });
    return { share, inputTokens, keptTokens: 0, ...timesSince(startedMs, tokenizedMs) };
  }

  /** Some questions about a document that is encoded already. */
  async answerShared(task: Omit<AnswerTask, 'kind' | 'modelId'>): Promise<AnswerReply> {
    const startedMs = performance.now();
    const questions = task.questions.map((question) => tokenizeQuestion(question, this.tokenizer));
    const tokenizedMs = performance.now();
    const stateKeys = task.shares.flatMap(({ windows }) => windows).reduce((sum, { tokens }) => sum + tokens, 0);
    const probabilities = await this.answerAll(questions, readShares(task.shares, this.shape), stateKeys);
    return { probabilities, ...timesSince(startedMs, tokenizedMs) };
  }

  private stateWindows(ids: readonly number[]): Window[] {
    return this.numbered(cutWindows(ids, this.tokenizer, this.limits), STATE_SEGMENT);
  }

  private numbered(windows: readonly (readonly number[])[], segment: number): Window[] {
    return windows.map((ids, number) => ({ ids, segment, index: Math.min(number, this.limits.maxWindowIndex) }));
  }

  /** @returns `[questions][options]`, in the order of the request */
  private async answerAll(
    questions: readonly TokenizedQuestion[],
    windows: AsyncIterable<KeyValues>,
    stateKeys: number,
  ): Promise<number[][]> {
    try {
      const state = await this.stateBuffers.join(stateKeys, windows);
      const probabilities: number[][] = [];
      for (const question of questions) probabilities.push(await this.answerQuestion(question, state));
      return probabilities;
    } finally {
      this.stateBuffers.release();
    }
  }

  private async answerQuestion(question: TokenizedQuestion, state: KeyValues): Promise<number[]> {
    const prepared = prepareQuestion(question, state.tokens, { tokenizer: this.tokenizer, limits: this.limits });
    try {
      const logits = await this.graphs.questionLogits(prepared, await this.addInstructions(prepared, state));
      const temperature = temperatureOf(this.manifest.temperatures, prepared.type, prepared.order.length);
      return restoreOrder(softmax(logits, temperature), prepared.order);
    } finally {
      this.questionBuffers.release();
    }
  }

  /** The state's keys and values, followed by those of instruction slices that did not fit the branch. */
  private async addInstructions({ windows }: PreparedQuestion, state: KeyValues): Promise<KeyValues> {
    if (windows.length === 0) return state;
    const numbered = this.numbered(windows, INSTRUCTION_SEGMENT);
    const encoded = this.graphs.encodeWindows(numbered);
    return this.questionBuffers.join(state.tokens + countTokens(numbered), chain(state, encoded));
  }
}

async function* chain(first: KeyValues, rest: AsyncIterable<KeyValues>): AsyncGenerator<KeyValues> {
  yield first;
  yield* rest;
}

function countTokens(windows: readonly Window[]): number {
  return windows.reduce((sum, { ids }) => sum + ids.length, 0);
}

function timesSince(startedMs: number, tokenizedMs: number) {
  return { tokenizeMs: tokenizedMs - startedMs, inferMs: performance.now() - tokenizedMs };
}
