// Family `split-encoder`: a document is encoded once, window by window; every question is answered against its keys and
// values. The contract is models/README.md. Alone a worker does a whole decision; several may share one, by windows
// first and by questions then, with the same bits, because every run is the same run.

import { softmax, temperatureOf } from '../../../domain/temperature.ts';
import type {
  AnswerEndTask,
  AnswerReply,
  AnswerSliceReply,
  AnswerSliceTask,
  AnswerTask,
  DecideReply,
  DecideTask,
  EncodeReply,
  EncodeTask,
} from '../../messages.ts';
import type { SplitEncoderManifest } from '../../model-folder/manifest.ts';
import type { WordPieceTokenizer } from '../../tokenizer/tokenizer.ts';
import { cutShare } from '../cut.ts';
import { requireFinite } from '../finite-logits.ts';
import { restoreOrder } from '../option-order.ts';
import type { RunLimits } from './decision-rows.ts';
import type { DecisionTexts } from './decision-tokens.ts';
import { freeArrays, KeyValueLayout, type KeyValues } from './key-values.ts';
import type { Chunk, PreparedQuestion, TokenizedQuestion } from './prompt.ts';
import { PromptReader } from './prompt-reader.ts';
import { RowDecider, type RowSessions } from './row-decider.ts';
import { type PieceVectors, SplitGraphs, type SplitSessions, type WindowQuestion } from './split-graphs.ts';
import type { Lease, StateMemory } from './state-memory.ts';
import { StateReader } from './state-reader.ts';
import { countTokens, keysOf, type Window } from './windows.ts';

interface SplitEncoderParts extends SplitSessions {
  readonly manifest: SplitEncoderManifest;
  readonly tokenizer: WordPieceTokenizer;
  /** All models of a worker share one. */
  readonly memory: StateMemory;
  /** Where the device answers many rows in one run; decisions are made by these then. */
  readonly rows?: { readonly sessions: RowSessions; readonly limits: RunLimits } | undefined;
}

type Answered = Pick<DecideReply, 'probabilities' | 'stateTokens' | 'keptTokens' | 'vector' | 'views'>;

interface QuestionAnswer {
  /** `[options]`, in the order of the request. */
  readonly probabilities: readonly number[];
  readonly view: Float32Array | undefined;
}

interface AnsweringOptions {
  /** The first question about a document of one window: one run may encode and answer. */
  readonly first: WindowQuestion | undefined;
  readonly isFresh: boolean;
  readonly wantsVectors: boolean | undefined;
}

export class SplitEncoder {
  readonly manifest: SplitEncoderManifest;
  readonly tokenizer: WordPieceTokenizer;
  readonly #prompts: PromptReader;
  readonly #graphs: SplitGraphs;
  readonly #layout: KeyValueLayout;
  readonly #states: StateReader;
  /** Of devices that answer many rows in one run. */
  readonly rows: RowDecider | undefined;

  constructor({ manifest, tokenizer, memory, rows, ...sessions }: SplitEncoderParts) {
    const { layers, heads, head_size: headSize } = manifest.shape;
    this.manifest = manifest;
    this.tokenizer = tokenizer;
    this.#prompts = new PromptReader({ manifest, tokenizer });
    this.#graphs = new SplitGraphs(manifest.shape, sessions);
    this.#layout = new KeyValueLayout({ layers, heads, headSize });
    this.#states = new StateReader({ graphs: this.#graphs, layout: this.#layout, memory });
    this.rows = rows && new RowDecider({ manifest, prompts: this.#prompts, ...rows });
  }

  /** What `decide` would bill. @throws AppError context_length_exceeded */
  countTokens({ state, questions }: DecisionTexts): number {
    return this.#prompts.readState(state).inputTokens + this.#prompts.readQuestions(questions).questionTokens;
  }

  /** A whole decision. @param isFresh encode all of it and keep nothing @throws AppError context_length_exceeded */
  async decide(task: Omit<DecideTask, 'kind' | 'modelId'>, isFresh = false): Promise<DecideReply> {
    if (this.rows !== undefined) return await this.rows.decide(task);
    const startedMs = performance.now();
    const { windows, inputTokens } = this.#prompts.readState(task.state);
    const { questions, questionTokens } = this.#prompts.readQuestions(task.questions);
    const tokenizedMs = performance.now();
    const first = this.#prepareFirst(questions, windows);
    const { wantsVectors } = task;
    const isPassing = isFresh || !this.#states.keepsAny || (task.isPassing === true && !this.#states.knows(windows));
    const answered =
      first !== undefined && questions.length === 1 && isPassing
        ? await this.#answerPassing(first, wantsVectors)
        : await this.#readAndAnswer(windows, questions, { first, isFresh, wantsVectors });
    return {
      ...answered,
      inputTokens: inputTokens + questionTokens,
      isKept: this.#states.knows(windows),
      ...timesSince(startedMs, tokenizedMs),
    };
  }

  /** Whether documents that workers write together are read where they lie. */
  readsSharedMemory(): Promise<boolean> {
    return this.#states.readsSharedMemory();
  }

  /** One share of a document's windows. @throws AppError context_length_exceeded */
  async encodeShare(task: Omit<EncodeTask, 'kind' | 'modelId'>): Promise<EncodeReply> {
    const startedMs = performance.now();
    const { windows, inputTokens } = this.#prompts.readState(task.state);
    const { questionTokens } = this.#prompts.readQuestions(task.questions);
    const tokenizedMs = performance.now();
    const share = cutShare(windows, task.share, task.shares);
    const keptTokens = await this.#states.writeShare(share, { windows, memory: task.memory });
    return {
      windows: keysOf(share),
      keptTokens,
      inputTokens: inputTokens + questionTokens,
      ...timesSince(startedMs, tokenizedMs),
    };
  }

  /** Some questions about a document that is encoded already. */
  async answerShared(task: Omit<AnswerTask, 'kind' | 'modelId'>): Promise<AnswerReply> {
    const startedMs = performance.now();
    const { questions } = this.#prompts.readQuestions(task.questions);
    const tokenizedMs = performance.now();
    const state = await this.#states.readShared(task.document);
    try {
      const answers = await this.#answerAll(questions, state);
      const probabilities = answers.map((answer) => answer.probabilities);
      const vectors = task.wantsVectors && { vector: state.vector(), ...viewsOf(answers) };
      return { probabilities, ...vectors, ...timesSince(startedMs, tokenizedMs) };
    } finally {
      state.release();
    }
  }

  /** Some runs of one question about a document that is encoded already. */
  async answerSlice(task: Omit<AnswerSliceTask, 'kind' | 'modelId'>): Promise<AnswerSliceReply> {
    const startedMs = performance.now();
    const stateTokens = countTokens(task.document.windows);
    const question = this.#prompts.prepare(this.#prompts.readQuestion(task.question), stateTokens);
    const tokenizedMs = performance.now();
    const chunks = cutShare(question.chunks, task.slice, task.slices);
    // More slices than runs: nothing is left for some of them.
    if (chunks.length === 0) return { vectors: [], ...timesSince(startedMs, tokenizedMs) };
    const state = await this.#states.readShared(task.document);
    try {
      const { vectors, view } = await this.#runChunks(chunks, question, state);
      const views = chunks[0] === question.chunks[0] ? [{ view }] : [];
      const wanted = task.wantsVectors && { vector: state.vector(), ...viewsOf(views) };
      return { vectors, ...wanted, ...timesSince(startedMs, tokenizedMs) };
    } finally {
      state.release();
    }
  }

  /** The answer to a question of which all runs are done. */
  async endAnswer(task: Omit<AnswerEndTask, 'kind' | 'modelId'>): Promise<AnswerReply> {
    const startedMs = performance.now();
    const question = this.#prompts.prepare(this.#prompts.readQuestion(task.question), task.stateTokens);
    const tokenizedMs = performance.now();
    const probabilities = [this.#readOut(question, await this.#graphs.logitsOf(question, task.vectors))];
    return { probabilities, ...timesSince(startedMs, tokenizedMs) };
  }

  #prepareFirst(
    [question]: readonly TokenizedQuestion[],
    [window, ...more]: readonly Window[],
  ): WindowQuestion | undefined {
    if (question === undefined || window === undefined || more.length > 0) return undefined;
    const prepared = this.#prompts.prepare(question, window.tokens);
    return this.#graphs.canDecideWindow(prepared) ? { window, question: prepared } : undefined;
  }

  /** Keys and values that nobody will ask for are not written. */
  async #answerPassing(first: WindowQuestion, wantsVectors = false): Promise<Answered> {
    const { question, window } = first;
    const { tokens } = window;
    const { logits, view, lastValues } = await this.#graphs.decidePassing(first, wantsVectors);
    const vector = lastValues && this.#layout.vectorOf({ parts: [lastValues], tokens });
    freeArrays(lastValues === undefined ? [] : [lastValues]);
    const probabilities = [this.#readOut(question, logits)];
    const vectors = vector && { vector, ...viewsOf([{ view }]) };
    return { probabilities, stateTokens: tokens, keptTokens: 0, ...vectors };
  }

  async #readAndAnswer(
    windows: readonly Window[],
    questions: readonly TokenizedQuestion[],
    { first, isFresh, wantsVectors }: AnsweringOptions,
  ): Promise<Answered> {
    const answers: QuestionAnswer[] = [];
    const encodeOnly =
      first &&
      (async (target: KeyValues) => {
        const { logits, view } = await this.#graphs.decideWindow(first, target);
        answers.push({ probabilities: this.#readOut(first.question, logits), view });
      });
    const { state, keptTokens } = await this.#states.read(windows, { isFresh, encodeOnly });
    try {
      answers.push(...(await this.#answerAll(questions.slice(answers.length), state)));
      const probabilities = answers.map((answer) => answer.probabilities);
      const vectors = wantsVectors && { vector: state.vector(), ...viewsOf(answers) };
      return { probabilities, stateTokens: countTokens(windows), keptTokens, ...vectors };
    } finally {
      state.release();
    }
  }

  /** In the order of the questions. */
  async #answerAll(questions: readonly TokenizedQuestion[], state: Lease): Promise<QuestionAnswer[]> {
    const answers: QuestionAnswer[] = [];
    for (const tokenized of questions) {
      const question = this.#prompts.prepare(tokenized, state.keyValues.tokens);
      const { vectors, view } = await this.#runChunks(question.chunks, question, state);
      const probabilities = this.#readOut(question, await this.#graphs.logitsOf(question, vectors));
      answers.push({ probabilities, view });
    }
    return answers;
  }

  /** @param chunks of the question */
  async #runChunks(chunks: readonly Chunk[], question: PreparedQuestion, state: Lease): Promise<PieceVectors> {
    const windows = this.#prompts.instructionWindows(question);
    if (windows.length === 0) return this.#graphs.pieceVectors(chunks, state.keyValues);
    const { state: instructions } = await this.#states.read(windows);
    const joined = await this.#states.join([state, instructions]).finally(() => instructions.release());
    try {
      return await this.#graphs.pieceVectors(chunks, joined.keyValues);
    } finally {
      joined.release();
    }
  }

  #readOut(question: PreparedQuestion, logits: Float32Array): number[] {
    const temperature = temperatureOf(this.manifest.temperatures, question.type, question.order.length);
    return restoreOrder(softmax(requireFinite(logits, question.order.length), temperature), question.order);
  }
}

/** Of every question, or of none. */
function viewsOf(answers: readonly Pick<QuestionAnswer, 'view'>[]): { views?: readonly Float32Array[] } {
  const views = answers.flatMap(({ view }) => view ?? []);
  return views.length > 0 ? { views } : {};
}

function timesSince(startedMs: number, tokenizedMs: number) {
  return { tokenizeMs: tokenizedMs - startedMs, inferMs: performance.now() - tokenizedMs };
}
