// A decision on a device: one task, or one for each slice of its questions, which share runs with others or have their own.

import { sum } from '../../domain/sum.ts';
import type { DecideTask } from '../../runtime/messages.ts';
import type { DecideJob } from '../engine.ts';
import { type BatchShare, estimateShare } from '../scheduling/batching.ts';
import { Part, type PlannedWork } from '../scheduling/queued-ticket.ts';
import type { DecidingModel, DecisionOutcome } from './deciding-model.ts';
import type { DecisionSize } from './decision-cost.ts';
import type { QuestionSlice } from './device-slices.ts';

export interface DeviceDecisionOptions {
  readonly model: DecidingModel;
  readonly job: DecideJob;
  readonly size: DecisionSize;
  /** At least one; together all questions. */
  readonly slices: readonly QuestionSlice[];
}

export class DeviceDecision {
  readonly #options: DeviceDecisionOptions;
  readonly #parts: readonly DeviceSlice[];

  constructor(options: DeviceDecisionOptions) {
    this.#options = options;
    const { model, job, size, slices } = options;
    this.#parts = slices.map(({ places, tokens }, number) => {
      const batch = model.shareOf(tokens);
      const own = { ...size, questions: places.flatMap((place) => size.questions[place] ?? []) };
      const costMs = batch === undefined ? model.cost.wholeMs(own, 0) : estimateShare(batch).costMs;
      return new DeviceSlice(costMs, { job, places, isFirst: number === 0, isOnly: slices.length === 1, batch });
    });
  }

  begin(): PlannedWork {
    const parts = this.#parts;
    return { parts, durationMs: sum(parts.map(({ durationMs }) => durationMs)) };
  }

  /** Some of it shared runs with parts of others. */
  get hadCompany(): boolean {
    return this.#parts.some(({ hadCompany }) => hadCompany);
  }

  collect(): DecisionOutcome {
    const replies = this.#parts.map(({ reply }) => reply);
    const [first] = replies;
    if (first === undefined) throw new Error('a decision ended that has no parts');
    const views = replies.flatMap((reply) => reply.views ?? []);
    const outcome = {
      ...first,
      probabilities: replies.flatMap(({ probabilities }) => probabilities),
      tokenizeMs: sum(replies.map(({ tokenizeMs }) => tokenizeMs)),
      inferMs: sum(replies.map(({ inferMs }) => inferMs)),
      ...(views.length > 0 && { views }),
    };
    const { model, size } = this.#options;
    const wallMs = this.#parts.length === 1 ? this.#parts[0]?.wallMs : undefined;
    model.cost.observeWhole(size, { reply: outcome, wallMs });
    return outcome;
  }
}

interface DeviceSliceOptions extends Pick<QuestionSlice, 'places'> {
  readonly job: DecideJob;
  /** It counts the questions of all. */
  readonly isFirst: boolean;
  readonly isOnly: boolean;
  readonly batch: BatchShare | undefined;
}

class DeviceSlice extends Part<DecideTask> {
  /** From its begin to its answer. */
  readonly durationMs: number;
  readonly #options: DeviceSliceOptions;

  constructor(costMs: number, options: DeviceSliceOptions) {
    super(costMs, options.batch);
    this.#options = options;
    this.durationMs = options.batch === undefined ? costMs : estimateShare(options.batch).durationMs;
  }

  begin(): DecideTask {
    const { job, places, isFirst, isOnly } = this.#options;
    const { modelId, state, wantsVectors } = job;
    const questions = isOnly ? job.questions : places.flatMap((place) => job.questions[place] ?? []);
    const counted = isFirst && !isOnly && { countedQuestions: job.questions };
    return { kind: 'decide', modelId, state, questions, isPassing: true, wantsVectors, ...counted };
  }
}
