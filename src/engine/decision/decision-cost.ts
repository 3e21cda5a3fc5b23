// What one model's decisions cost: sizes and time estimated from texts, and put right by the replies. No queue, no
// workers.

import { sum } from '../../domain/sum.ts';
import type { TimedCase } from '../../runtime/load-report.ts';
import type { DecideReply, EncodeReply } from '../../runtime/messages.ts';
import type { TokenCount } from '../../runtime/token-counter.ts';
import { addWork, CostModel, type Work } from '../cost/cost-model.ts';
import { countLetters, TokenRatio } from '../cost/token-ratio.ts';
import {
  answerWork,
  countOptions,
  encodeWork,
  joinWork,
  type QuestionSize,
  TASK_WORK,
  textsOf,
  withoutSpecials,
  withSpecials,
} from '../cost/work-size.ts';
import type { DecideJob } from '../engine.ts';

export interface DecisionSize {
  /** As `countLetters` gives them, to learn from; 0 where tokens were counted. */
  readonly stateLetters: number;
  /** Specials included. */
  readonly stateTokens: number;
  readonly questions: readonly (QuestionSize & { readonly letters: number; readonly instructionTokens?: number })[];
  /** What the job will bill; undefined: its tokens were estimated, not counted. */
  readonly inputTokens?: number | undefined;
}

/** What the parts of a decision came to. */
export interface FinishedParts {
  readonly encoded: readonly { readonly reply: EncodeReply; readonly wallMs: number | undefined }[];
  readonly answered: readonly {
    readonly wallMs: number | undefined;
    /** Of its questions. */
    readonly places: readonly number[];
    /** Whether its worker put the document together for it. */
    readonly hasJoined: boolean;
  }[];
  /** One for each question that came in slices. */
  readonly sliced: readonly SlicedWork[];
}

interface SlicedWork {
  readonly place: number;
  /** Of all slices. */
  readonly wallMs: number | undefined;
  readonly slices: number;
  /** How many of its workers put the document together for it. */
  readonly joins: number;
}

export class DecisionCost {
  readonly #windowTokens: number;
  readonly #costs = new CostModel();
  readonly #stateRatio = new TokenRatio();
  readonly #questionRatio = new TokenRatio();

  constructor(windowTokens: number) {
    this.#windowTokens = windowTokens;
  }

  /** @param cases run warm and whole */
  calibrate(cases: readonly TimedCase[]): void {
    for (const { characters, tokens } of cases) {
      this.#stateRatio.observe(characters, withoutSpecials(tokens, this.#windowTokens));
    }
    this.#costs.calibrate(
      cases.map(({ tokens, questions, wallMs }) => ({ work: this.#wholeWork(tokens, 0, questions), wallMs })),
    );
  }

  /** @param counted undefined: estimated from the letters */
  sizeOf({ state, questions }: DecideJob, counted: TokenCount | undefined): DecisionSize {
    const windowTokens = this.#windowTokens;
    const stateLetters = counted === undefined ? countLetters(state) : 0;
    const contentTokens = counted?.stateTokens ?? Math.ceil(this.#stateRatio.estimate(stateLetters));
    return {
      stateLetters,
      stateTokens: withSpecials(contentTokens, windowTokens),
      inputTokens: counted?.inputTokens,
      questions: questions.map((question, place) => {
        const exact = counted?.questionTokens[place];
        const letters = exact === undefined ? sum(textsOf(question).map(countLetters)) : 0;
        const tokens = exact ?? this.#questionRatio.estimate(letters);
        // Only what is longer than a window is encoded apart.
        const instructionTokens = tokens < windowTokens ? 0 : tokens * instructionShare(textsOf(question));
        return { letters, tokens, instructionTokens, options: countOptions(question) };
      }),
    };
  }

  /** Of a decision as one task. @param keptTokens of the state, that need not be encoded */
  wholeMs({ stateTokens, questions }: DecisionSize, keptTokens: number): number {
    return this.#costs.estimateMs(this.#wholeWork(stateTokens, keptTokens, questions));
  }

  encodeMs({ stateTokens }: DecisionSize): number {
    return this.#costs.estimateMs(encodeWork(stateTokens, this.#windowTokens));
  }

  joinMs({ stateTokens }: DecisionSize): number {
    return this.#costs.estimateMs(joinWork(stateTokens));
  }

  /** What a task takes besides its runs. */
  taskMs(): number {
    return this.#costs.estimateMs(TASK_WORK);
  }

  /** `[questions]` */
  answersMs({ stateTokens, questions }: DecisionSize): number[] {
    return questions.map((question) => this.#costs.estimateMs(answerWork(question, stateTokens)));
  }

  /** `[questions]`: encoding of instructions before their last window */
  instructionsMs({ questions }: DecisionSize): number[] {
    const windowTokens = this.#windowTokens;
    return questions.map(({ instructionTokens = 0 }) => {
      const windows = Math.floor(instructionTokens / windowTokens);
      return windows === 0 ? 0 : this.#costs.estimateMs(encodeWork(windows * windowTokens, this.#windowTokens));
    });
  }

  observeWhole(
    size: DecisionSize,
    { reply, wallMs }: { readonly reply: DecideReply; readonly wallMs: number | undefined },
  ): void {
    const { stateTokens, keptTokens, inputTokens } = reply;
    const questions = this.#observeTokens(size, stateTokens, inputTokens);
    this.#costs.observe({ work: this.#wholeWork(stateTokens, keptTokens, questions), wallMs });
  }

  /** Parts of one decision, of which the first encoding one has counted the tokens of all. */
  observeParts(size: DecisionSize, { encoded, answered, sliced }: FinishedParts): void {
    let stateTokens = 0;
    for (const { reply, wallMs } of encoded) {
      const tokens = sum(reply.windows.map((window) => window.tokens));
      stateTokens += tokens;
      const work = encodeWork(tokens - reply.keptTokens, this.#windowTokens);
      this.#costs.observe({ work: addWork([TASK_WORK, work, joinWork(tokens)]), wallMs });
    }
    const questions = this.#observeTokens(size, stateTokens, encoded[0]?.reply.inputTokens ?? 0);
    for (const { wallMs, places, hasJoined } of answered) {
      const works = places.map((place) => answerWork(questions[place] ?? NOTHING, stateTokens));
      const joins = hasJoined ? [joinWork(stateTokens)] : [];
      this.#costs.observe({ work: addWork([TASK_WORK, ...joins, ...works]), wallMs });
    }
    // Slices are unlike each other: what they took is laid to their question as a whole.
    for (const { place, wallMs, slices, joins } of sliced) {
      const tasks = Array.from({ length: slices }, () => TASK_WORK);
      const joinWorks = Array.from({ length: joins }, () => joinWork(stateTokens));
      const work = addWork([...tasks, ...joinWorks, answerWork(questions[place] ?? NOTHING, stateTokens)]);
      this.#costs.observe({ work, wallMs });
    }
  }

  /** @returns the questions with the tokens they turned out to have */
  #observeTokens({ stateLetters, questions }: DecisionSize, stateTokens: number, inputTokens: number) {
    const stateContent = withoutSpecials(stateTokens, this.#windowTokens);
    const questionTokens = Math.max(0, inputTokens - stateContent);
    const letters = sum(questions.map((question) => question.letters));
    const expected = sum(questions.map((question) => question.tokens));
    this.#stateRatio.observe(stateLetters, stateContent);
    this.#questionRatio.observe(letters, questionTokens);
    return questions.map((question): QuestionSize => {
      return { tokens: expected > 0 ? (questionTokens * question.tokens) / expected : 0, options: question.options };
    });
  }

  #wholeWork(stateTokens: number, keptTokens: number, questions: readonly QuestionSize[]): Work {
    const answers = questions.map((question) => answerWork(question, stateTokens));
    // A document of one window is taken as it is, and one that is kept lies joined already.
    const joins = stateTokens > this.#windowTokens && keptTokens < stateTokens ? [joinWork(stateTokens)] : [];
    return addWork([TASK_WORK, encodeWork(stateTokens - keptTokens, this.#windowTokens), ...joins, ...answers]);
  }
}

/** Of the tokens of a question, by characters. @param texts instructions first */
function instructionShare(texts: readonly string[]): number {
  const characters = sum(texts.map(({ length }) => length));
  return characters === 0 ? 0 : (texts[0]?.length ?? 0) / characters;
}

const NOTHING: QuestionSize = { tokens: 0, options: 0 };
