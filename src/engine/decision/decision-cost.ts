// What one model's decisions cost: sizes and time estimated from texts, and put right by the replies. No queue, no
// workers.

import type { Question } from '../../domain/question.ts';
import type { DecideReply, EncodeReply, TimedCase } from '../../runtime/messages.ts';
import type { TokenCounter } from '../../runtime/token-counter.ts';
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
import type { PartResult } from '../scheduling/call.ts';
import type { AnsweredGroup, AnsweredSlices } from './decision-parts.ts';

export interface DecisionSize {
  readonly stateLetters: number;
  /** Specials included. */
  readonly stateTokens: number;
  readonly questions: readonly (QuestionSize & { readonly letters: number; readonly instructionTokens?: number })[];
}

/** What a decision in parts came to. */
export interface FinishedParts {
  readonly encoded: readonly PartResult<EncodeReply>[];
  readonly answered: readonly AnsweredGroup[];
  readonly sliced: readonly AnsweredSlices[];
}

export class DecisionCost {
  readonly windowTokens: number;
  private readonly costs = new CostModel();
  private readonly stateRatio = new TokenRatio();
  private readonly questionRatio = new TokenRatio();

  constructor(windowTokens: number) {
    this.windowTokens = windowTokens;
  }

  /** @param cases run warm and whole */
  calibrate(cases: readonly TimedCase[]): void {
    for (const { characters, tokens } of cases) {
      this.stateRatio.observe(characters, withoutSpecials(tokens, this.windowTokens));
    }
    this.costs.calibrate(
      cases.map(({ tokens, questions, wallMs }) => ({ work: this.wholeWork(tokens, 0, questions), wallMs })),
    );
  }

  /** @param counter exact where tokens are counted in no time */
  sizeOf({ modelId, state, questions }: DecideJob, counter?: TokenCounter): DecisionSize {
    const stateLetters = countLetters(state);
    const count = (text: string, asked: readonly Question[]) =>
      counter === undefined ? undefined : countIfPossible(counter, { modelId, state: text, questions: asked });
    const contentTokens = count(state, []) ?? Math.ceil(this.stateRatio.estimate(stateLetters));
    return {
      stateLetters,
      stateTokens: withSpecials(contentTokens, this.windowTokens),
      questions: questions.map((question) => {
        const letters = textsOf(question).reduce((sum, text) => sum + countLetters(text), 0);
        const tokens = count('', [question]) ?? this.questionRatio.estimate(letters);
        const instructionTokens = letters > 0 ? (tokens * countLetters(question.instructions)) / letters : 0;
        return { letters, tokens, instructionTokens, options: countOptions(question) };
      }),
    };
  }

  /** Of a decision as one task. @param keptTokens of the state, that need not be encoded */
  wholeMs({ stateTokens, questions }: DecisionSize, keptTokens: number): number {
    return this.costs.estimateMs(this.wholeWork(stateTokens, keptTokens, questions));
  }

  encodeMs({ stateTokens }: DecisionSize): number {
    return this.costs.estimateMs(encodeWork(stateTokens, this.windowTokens));
  }

  joinMs({ stateTokens }: DecisionSize): number {
    return this.costs.estimateMs(joinWork(stateTokens));
  }

  /** What a task takes besides its runs. */
  taskMs(): number {
    return this.costs.estimateMs(TASK_WORK);
  }

  /** `[questions]` */
  answersMs({ stateTokens, questions }: DecisionSize): number[] {
    return questions.map((question) => this.costs.estimateMs(answerWork(question, stateTokens)));
  }

  /** `[questions]`: encoding of instructions before their last window */
  instructionsMs({ questions }: DecisionSize): number[] {
    return questions.map(({ instructionTokens = 0 }) => {
      const windows = Math.floor(instructionTokens / this.windowTokens);
      return windows === 0 ? 0 : this.costs.estimateMs(encodeWork(windows * this.windowTokens, this.windowTokens));
    });
  }

  observeWhole(size: DecisionSize, { reply, wallMs }: PartResult<DecideReply>): void {
    const { stateTokens, keptTokens, inputTokens } = reply;
    const questions = this.observeTokens(size, stateTokens, inputTokens);
    this.costs.observe({ work: this.wholeWork(stateTokens, keptTokens, questions), wallMs });
  }

  /** Parts of one decision, of which the first encoding one has counted the tokens of all. */
  observeParts(size: DecisionSize, { encoded, answered, sliced }: FinishedParts): void {
    let stateTokens = 0;
    for (const { reply, wallMs } of encoded) {
      const tokens = reply.share.windows.reduce((sum, window) => sum + window.tokens, 0);
      stateTokens += tokens;
      const work = encodeWork(tokens - reply.keptTokens, this.windowTokens);
      this.costs.observe({ work: addWork([TASK_WORK, work, joinWork(tokens)]), wallMs });
    }
    const questions = this.observeTokens(size, stateTokens, encoded[0]?.reply.inputTokens ?? 0);
    for (const { wallMs, places, hasJoined } of answered) {
      const works = places.map((place) => answerWork(questions[place] ?? NOTHING, stateTokens));
      const joins = hasJoined ? [joinWork(stateTokens)] : [];
      this.costs.observe({ work: addWork([TASK_WORK, ...joins, ...works]), wallMs });
    }
    for (const question of sliced) this.observeSlices(question, stateTokens, questions);
  }

  /** Slices are unlike each other: what they took is laid to their question as a whole. */
  private observeSlices(
    { place, results, joins }: AnsweredSlices,
    stateTokens: number,
    questions: QuestionSize[],
  ): void {
    const tasks = results.map(() => TASK_WORK);
    const joinWorks = Array.from({ length: joins }, () => joinWork(stateTokens));
    const work = addWork([...tasks, ...joinWorks, answerWork(questions[place] ?? NOTHING, stateTokens)]);
    this.costs.observe({ work, wallMs: results.reduce((sum, { wallMs }) => sum + wallMs, 0) });
  }

  /** @returns the questions with the tokens they turned out to have */
  private observeTokens({ stateLetters, questions }: DecisionSize, stateTokens: number, inputTokens: number) {
    const stateContent = withoutSpecials(stateTokens, this.windowTokens);
    const questionTokens = Math.max(0, inputTokens - stateContent);
    const letters = questions.reduce((sum, question) => sum + question.letters, 0);
    const expected = questions.reduce((sum, question) => sum + question.tokens, 0);
    this.stateRatio.observe(stateLetters, stateContent);
    this.questionRatio.observe(letters, questionTokens);
    return questions.map((question): QuestionSize => {
      return { tokens: expected > 0 ? (questionTokens * question.tokens) / expected : 0, options: question.options };
    });
  }

  private wholeWork(stateTokens: number, keptTokens: number, questions: readonly QuestionSize[]): Work {
    const answers = questions.map((question) => answerWork(question, stateTokens));
    // A document of one window is taken as it is, and one that is kept lies joined already.
    const joins = stateTokens > this.windowTokens && keptTokens < stateTokens ? [joinWork(stateTokens)] : [];
    return addWork([TASK_WORK, encodeWork(stateTokens - keptTokens, this.windowTokens), ...joins, ...answers]);
  }
}

/** What is too long for the model is refused by whoever runs it. */
function countIfPossible(counter: TokenCounter, job: DecideJob): number | undefined {
  try {
    return counter.count({ kind: 'count-decision', ...job });
  } catch {
    return undefined;
  }
}

const NOTHING: QuestionSize = { tokens: 0, options: 0 };
