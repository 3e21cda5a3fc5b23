// Family `split-encoder`: a document is encoded once, window by window; every question is answered against its keys and
// values. The contract is models/README.md. Alone a worker does a whole decision; several may share one, by windows
// first and by questions then, with the same bits, because every run is the same run.

import { isDeepStrictEqual } from 'node:util';
import type { Question } from '../../../domain/question.ts';
import { softmax, temperatureOf } from '../../../domain/temperature.ts';
import type {
  AnswerEndTask,
  AnswerReply,
  AnswerSliceReply,
  AnswerSliceTask,
  AnswerTask,
  DecideReply,
  DecideTask,
  EncodedShare,
  EncodeReply,
  EncodeTask,
} from '../../messages.ts';
import type { SplitEncoderManifest } from '../../model-folder/manifest.ts';
import type { GraphSession } from '../../session.ts';
import type { WordPieceTokenizer } from '../../tokenizer/tokenizer.ts';
import { cutShare } from '../cut.ts';
import { type DecisionTexts, tokenizeQuestions, tokenizeState } from './decision-tokens.ts';
import { KeyValueLayout, type KeyValues } from './key-values.ts';
import {
  cutWindows,
  type PreparedQuestion,
  type PromptLimits,
  prepareQuestion,
  type TokenizedQuestion,
  tokenizeQuestion,
} from './prompt.ts';
import { restoreOrder } from './readout.ts';
import { SplitGraphs } from './split-graphs.ts';
import type { StateCache } from './state-cache.ts';
import { type KeyedWindow, type ReadOptions, StateReader } from './state-reader.ts';
import { keyOfWindow } from './window-keys.ts';

const STATE_SEGMENT = 0;
const INSTRUCTION_SEGMENT = 1;

/** Longer texts are read again for every part of a decision rather than kept until the next one. */
const REMEMBERED_CHARACTERS = 262_144;

export interface SplitEncoderParts {
  readonly manifest: SplitEncoderManifest;
  readonly tokenizer: WordPieceTokenizer;
  readonly encode: GraphSession;
  readonly answer: GraphSession;
  readonly head: GraphSession;
  /** All three in one; models may come without. */
  readonly decide?: GraphSession | undefined;
  /** All models of a worker may share one. */
  readonly cache: StateCache;
}

/** The first answer of a decision, where the run that encoded the document gave it. */
interface FirstAnswer {
  readonly question: PreparedQuestion;
  /** The document. */
  readonly window: KeyedWindow;
  logits: Float32Array | undefined;
  readonly run: NonNullable<ReadOptions['encodeWhole']>;
}

interface StateText {
  readonly text: string;
  /** Content tokens. */
  readonly inputTokens: number;
  readonly windows: readonly KeyedWindow[];
}

export class SplitEncoder {
  readonly manifest: SplitEncoderManifest;
  readonly tokenizer: WordPieceTokenizer;
  private readonly graphs: SplitGraphs;
  private readonly limits: PromptLimits;
  private readonly states: StateReader;
  private lastState: StateText | undefined;
  private lastQuestion: { readonly question: Question; readonly tokenized: TokenizedQuestion } | undefined;

  constructor({ manifest, tokenizer, cache, ...graphs }: SplitEncoderParts) {
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
    const layout = new KeyValueLayout({ layers: shape.layers, heads: shape.heads, headSize: shape.head_size });
    this.states = new StateReader({ graphs: this.graphs, layout, cache });
  }

  /** What `decide` would bill. @throws AppError context_length_exceeded */
  countTokens({ state, questions }: DecisionTexts): number {
    return this.readText(state).inputTokens + tokenizeQuestions(questions, this).questionTokens;
  }

  /** A whole decision. @param isFresh encode all of it and keep nothing @throws AppError context_length_exceeded */
  async decide(task: Pick<DecideTask, 'state' | 'questions' | 'isPassing'>, isFresh = false): Promise<DecideReply> {
    const startedMs = performance.now();
    const { windows, inputTokens } = this.readText(task.state);
    const { questions, questionTokens } = tokenizeQuestions(task.questions, this);
    const tokenizedMs = performance.now();
    const first = this.prepareFirst(questions, windows);
    const answer = async (state: KeyValues, keptTokens: number) => ({
      probabilities: await this.answerAll(questions, state, first),
      stateTokens: state.tokens,
      keptTokens,
    });
    const isPassing = task.isPassing === true && questions.length === 1 && !this.states.knows(windows);
    const answered =
      isPassing && first !== undefined
        ? await this.answerPassing(first)
        : await this.states.read(windows, answer, { isFresh, encodeWhole: first?.run });
    return {
      ...answered,
      inputTokens: inputTokens + questionTokens,
      isKept: this.states.knows(windows),
      ...timesSince(startedMs, tokenizedMs),
    };
  }

  /** One share of a document's windows. @throws AppError context_length_exceeded */
  async encodeShare(task: Omit<EncodeTask, 'kind' | 'modelId'>): Promise<EncodeReply> {
    const startedMs = performance.now();
    const { windows, inputTokens } = this.readText(task.state);
    const { questionTokens } = tokenizeQuestions(task.questions, this);
    const tokenizedMs = performance.now();
    const shared = await this.states.share(cutShare(windows, task.share, task.shares), task.memory);
    return { ...shared, inputTokens: inputTokens + questionTokens, ...timesSince(startedMs, tokenizedMs) };
  }

  /** Some questions about a document that is encoded already. */
  async answerShared(task: Omit<AnswerTask, 'kind' | 'modelId'>): Promise<AnswerReply> {
    const startedMs = performance.now();
    const questions = task.questions.map((question) => tokenizeQuestion(question, this.tokenizer));
    const tokenizedMs = performance.now();
    const probabilities = await this.states.readShares(task.shares, (state) => this.answerAll(questions, state));
    return { probabilities, ...timesSince(startedMs, tokenizedMs) };
  }

  /** Some runs of one question about a document that is encoded already. */
  async answerSlice(task: Omit<AnswerSliceTask, 'kind' | 'modelId'>): Promise<AnswerSliceReply> {
    const startedMs = performance.now();
    const question = this.prepare(this.readQuestion(task.question), countTokens(task.shares));
    const tokenizedMs = performance.now();
    const chunks = cutShare(question.chunks, task.slice, task.slices);
    // More slices than runs: nothing is left for some of them.
    if (chunks.length === 0) return { vectors: [], ...timesSince(startedMs, tokenizedMs) };
    const vectors = await this.states.readShares(task.shares, (state) =>
      this.besideInstructions(question, state, (joined) => this.graphs.pieceVectors(chunks, joined)),
    );
    return { vectors, ...timesSince(startedMs, tokenizedMs) };
  }

  /** The answer to a question of which all runs are done. */
  async endAnswer(task: Omit<AnswerEndTask, 'kind' | 'modelId'>): Promise<AnswerReply> {
    const startedMs = performance.now();
    const question = this.prepare(this.readQuestion(task.question), task.stateTokens);
    const tokenizedMs = performance.now();
    const probabilities = [this.readOut(question, await this.graphs.logitsOf(question, task.vectors))];
    return { probabilities, ...timesSince(startedMs, tokenizedMs) };
  }

  /** The slices of one question come one after the other, too. */
  private readQuestion(question: Question): TokenizedQuestion {
    if (this.lastQuestion !== undefined && isDeepStrictEqual(this.lastQuestion.question, question))
      return this.lastQuestion.tokenized;
    const tokenized = tokenizeQuestion(question, this.tokenizer);
    this.lastQuestion = { question, tokenized };
    return tokenized;
  }

  /** The parts of one decision come one after the other and bring the same text. */
  private readText(text: string): StateText {
    if (this.lastState?.text === text) return this.lastState;
    const ids = tokenizeState(text, this);
    const windows = this.toWindows(cutWindows(ids, this.tokenizer, this.limits), STATE_SEGMENT);
    const state = { text, inputTokens: ids.length, windows };
    this.lastState = text.length > REMEMBERED_CHARACTERS ? undefined : state;
    return state;
  }

  private toWindows(slices: readonly Int32Array[], segment: number): KeyedWindow[] {
    return slices.map((ids, number) => {
      const window = { ids, segment, index: Math.min(number, this.limits.maxWindowIndex) };
      return { ...window, tokens: ids.length, key: keyOfWindow(window, this.manifest.id) };
    });
  }

  /** The first question about a document of one window, to be answered by the run that encodes it. */
  private prepareFirst(questions: readonly TokenizedQuestion[], [only, ...more]: readonly KeyedWindow[]) {
    const [question] = questions;
    if (question === undefined || only === undefined || more.length > 0) return undefined;
    const prepared = this.prepare(question, only.tokens);
    if (!this.graphs.canDecideWindow(prepared)) return undefined;
    const first: FirstAnswer = {
      question: prepared,
      window: only,
      logits: undefined,
      run: async (window, target, isKept) => {
        const isNeeded = isKept || questions.length > 1;
        first.logits = await this.graphs.decideWindow(window, prepared, isNeeded ? target : undefined);
      },
    };
    return first;
  }

  /** Keys and values that nobody wants are not written. */
  private async answerPassing({ question, window }: FirstAnswer) {
    const logits = await this.graphs.decideWindow(window, question);
    return { probabilities: [this.readOut(question, logits)], stateTokens: window.tokens, keptTokens: 0 };
  }

  private prepare(question: TokenizedQuestion, stateKeys: number): PreparedQuestion {
    return prepareQuestion(question, stateKeys, { tokenizer: this.tokenizer, limits: this.limits });
  }

  /** @returns `[questions][options]`, in the order of the request */
  private async answerAll(
    questions: readonly TokenizedQuestion[],
    state: KeyValues,
    first?: FirstAnswer,
  ): Promise<number[][]> {
    const probabilities: number[][] = [];
    for (const [place, question] of questions.entries()) {
      if (place === 0 && first?.logits !== undefined) probabilities.push(this.readOut(first.question, first.logits));
      else probabilities.push(await this.answerQuestion(this.prepare(question, state.tokens), state));
    }
    return probabilities;
  }

  /** Instruction slices that did not fit the branch follow the state, for this question alone. */
  private async answerQuestion(question: PreparedQuestion, state: KeyValues): Promise<number[]> {
    return await this.besideInstructions(question, state, (joined) => this.toProbabilities(question, joined));
  }

  private async besideInstructions<T>(
    question: PreparedQuestion,
    state: KeyValues,
    use: (joined: KeyValues) => Promise<T>,
  ): Promise<T> {
    if (question.windows.length === 0) return await use(state);
    const windows = this.toWindows(question.windows, INSTRUCTION_SEGMENT);
    return await this.states.read(windows, (instructions) => this.states.join([state, instructions], use));
  }

  private async toProbabilities(question: PreparedQuestion, keyValues: KeyValues): Promise<number[]> {
    return this.readOut(question, await this.graphs.questionLogits(question, keyValues));
  }

  private readOut(question: PreparedQuestion, logits: Float32Array): number[] {
    const temperature = temperatureOf(this.manifest.temperatures, question.type, question.order.length);
    return restoreOrder(softmax(logits, temperature), question.order);
  }
}

function countTokens(shares: readonly EncodedShare[]): number {
  return shares.reduce((sum, { windows }) => windows.reduce((total, { tokens }) => total + tokens, sum), 0);
}

function timesSince(startedMs: number, tokenizedMs: number) {
  return { tokenizeMs: tokenizedMs - startedMs, inferMs: performance.now() - tokenizedMs };
}
