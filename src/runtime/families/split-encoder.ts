// Family `split-encoder`: a document is encoded once, window by window; every question is answered against its keys and
// values. The contract is models/README.md. One run per window and per chunk, so that an answer never depends on others.

import { AppError } from '../../domain/errors.ts';
import type { QuestionType } from '../../domain/question.ts';
import type { BertTokenizer } from '../bert-tokenizer.ts';
import type { SplitEncoderManifest } from '../manifest.ts';
import type { DecideReply, DecideTask } from '../messages.ts';
import { floatTensor, floatValues, type GraphSession, int64Tensor, type Tensor } from '../session.ts';
import { KeyValueBuffers, type KeyValues } from './key-values.ts';
import {
  type Chunk,
  countQuestionTokens,
  cutWindows,
  type PreparedQuestion,
  type PromptLimits,
  prepareQuestion,
  type TokenizedQuestion,
  tokenizeQuestion,
} from './prompt.ts';
import { OptionPool, restoreOrder, softmax, temperatureOf } from './readout.ts';

/** Documents up to this many tokens reuse one set of buffers; 18 MB in the shape of `kev`. */
const KEPT_TOKENS = 1024;
const TYPE_NUMBER: Readonly<Record<QuestionType, number>> = { choice: 0, noul: 1, score: 2 };
const STATE_SEGMENT = 0;
const INSTRUCTION_SEGMENT = 1;

export interface SplitEncoderParts {
  readonly manifest: SplitEncoderManifest;
  readonly tokenizer: BertTokenizer;
  readonly encode: GraphSession;
  readonly answer: GraphSession;
  readonly head: GraphSession;
}

export class SplitEncoder {
  private readonly parts: SplitEncoderParts;
  private readonly limits: PromptLimits;
  private readonly stateBuffers: KeyValueBuffers;
  private readonly questionBuffers: KeyValueBuffers;
  /** Of `encode`'s outputs and `answer`'s inputs, in the order of `KeyValues.parts`. */
  private readonly keyValueNames: readonly string[];

  constructor(parts: SplitEncoderParts) {
    const { windows, branches, shape } = parts.manifest;
    this.parts = parts;
    this.limits = {
      windowTokens: windows.tokens,
      maxWindowIndex: windows.max_index,
      branchTokens: branches.max_tokens,
      branchScores: branches.max_scores,
    };
    const layers = Array.from({ length: shape.layers }, (_, layer) => layer);
    this.keyValueNames = layers.flatMap((layer) => [`key_${layer}`, `value_${layer}`]);
    const layout = { layers: shape.layers, heads: shape.heads, headSize: shape.head_size };
    this.stateBuffers = new KeyValueBuffers(layout, KEPT_TOKENS);
    // Only questions with more than a window of instructions need a copy of their own: nothing is kept.
    this.questionBuffers = new KeyValueBuffers(layout, 0);
  }

  /** @throws AppError context_length_exceeded */
  async decide(task: Pick<DecideTask, 'state' | 'questions'>): Promise<DecideReply> {
    const startedMs = performance.now();
    const stateIds = this.parts.tokenizer.encode(task.state);
    const questions = task.questions.map((question) => tokenizeQuestion(question, this.parts.tokenizer));
    const inputTokens = this.checkLimits(stateIds, questions);
    const tokenizedMs = performance.now();
    try {
      const state = await this.encodeState(stateIds);
      const probabilities: number[][] = [];
      for (const question of questions) probabilities.push(await this.answerQuestion(question, state));
      const [tokenizeMs, inferMs] = [tokenizedMs - startedMs, performance.now() - tokenizedMs];
      return { probabilities, inputTokens, tokenizeMs, inferMs };
    } finally {
      this.stateBuffers.release();
    }
  }

  private checkLimits(stateIds: readonly number[], questions: readonly TokenizedQuestion[]): number {
    const { id, limits } = this.parts.manifest;
    const questionTokens = questions.reduce((sum, question) => sum + countQuestionTokens(question), 0);
    if (stateIds.length > limits.state_tokens) {
      throw tooLong(`The state has ${stateIds.length} tokens; ${id} takes at most ${limits.state_tokens}.`, 'state');
    }
    if (questionTokens > limits.question_tokens) {
      const message = `The questions have ${questionTokens} tokens in all; ${id} takes at most ${limits.question_tokens}.`;
      throw tooLong(message, 'questions');
    }
    return stateIds.length + questionTokens;
  }

  private encodeState(ids: readonly number[]): Promise<KeyValues> {
    const windows = cutWindows(ids, this.parts.tokenizer, this.limits);
    return this.stateBuffers.join(countTokens(windows), this.encodeAll(windows, STATE_SEGMENT));
  }

  /** One run per window, unpadded: dynamic quantization scales by the whole run. */
  private async *encodeAll(windows: readonly (readonly number[])[], segment: number): AsyncGenerator<KeyValues> {
    for (const [number, ids] of windows.entries()) {
      const index = Math.min(number, this.limits.maxWindowIndex);
      const outputs = await this.parts.encode.run({
        token_ids: int64Tensor(ids, [1, ids.length]),
        segment: int64Tensor([segment], [1]),
        window_index: int64Tensor([index], [1]),
      });
      yield {
        tokens: ids.length,
        parts: this.keyValueNames.map((name) => floatValues(outputs[name])),
        borrowed: false,
      };
    }
  }

  /** @returns `[options]`, in the order of the request */
  private async answerQuestion(question: TokenizedQuestion, state: KeyValues): Promise<number[]> {
    const prepared = prepareQuestion(question, state.tokens, { tokenizer: this.parts.tokenizer, limits: this.limits });
    try {
      const logits = await this.questionLogits(prepared, await this.addInstructions(prepared, state));
      const { temperatures } = this.parts.manifest;
      const temperature = temperatureOf(temperatures, prepared.type, prepared.order.length);
      return restoreOrder(softmax(logits, temperature), prepared.order);
    } finally {
      this.questionBuffers.release();
    }
  }

  /** The state's keys and values, followed by those of instruction slices that did not fit the branch. */
  private async addInstructions({ windows }: PreparedQuestion, state: KeyValues): Promise<KeyValues> {
    if (windows.length === 0) return state;
    const encoded = this.encodeAll(windows, INSTRUCTION_SEGMENT);
    return this.questionBuffers.join(state.tokens + countTokens(windows), chain(state, encoded));
  }

  /** @returns `[options]`, in the model's order */
  private async questionLogits(question: PreparedQuestion, keyValues: KeyValues): Promise<Float32Array> {
    const feeds = this.keyValueFeeds(keyValues);
    const count = question.order.length;
    const pool = new OptionPool(count);
    for (const chunk of question.chunks) {
      const outputs = await this.parts.answer.run({ ...feeds, ...chunkFeeds(chunk) });
      pool.add(chunk, floatValues(outputs['piece_vectors']));
    }
    const vectors = pool.vectors();
    const outputs = await this.parts.head.run({
      option_vectors: floatTensor(vectors, [1, count, vectors.length / count]),
      question_type: int64Tensor([TYPE_NUMBER[question.type]], [1]),
      levels: int64Tensor(question.levels, [1, count]),
    });
    return floatValues(outputs['logits']);
  }

  private keyValueFeeds({ tokens, parts }: KeyValues): Record<string, Tensor> {
    const { heads, head_size } = this.parts.manifest.shape;
    const dims = [1, heads, tokens, head_size];
    const named = this.keyValueNames.map((name, index) => [name, parts[index] ?? new Float32Array()] as const);
    return Object.fromEntries(named.map(([name, part]) => [name, floatTensor(part, dims)]));
  }
}

function chunkFeeds({ tokenIds, positions, branch, options }: Chunk): Record<string, Tensor> {
  const dims = [1, tokenIds.length];
  return {
    token_ids: int64Tensor(tokenIds, dims),
    positions: int64Tensor(positions, dims),
    branch: int64Tensor(branch, dims),
    pieces: int64Tensor(
      options.map((_, piece) => piece + 1),
      [options.length],
    ),
  };
}

async function* chain(first: KeyValues, rest: AsyncIterable<KeyValues>): AsyncGenerator<KeyValues> {
  yield first;
  yield* rest;
}

function countTokens(windows: readonly (readonly number[])[]): number {
  return windows.reduce((sum, window) => sum + window.length, 0);
}

function tooLong(message: string, param: string): AppError {
  return new AppError('context_length_exceeded', message, { param });
}
