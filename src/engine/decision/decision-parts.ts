// The tasks of one decision in parts: shares of its document, then groups of its questions, with what each costs and where
// it runs cheaper. Queue and memory are the decider's.

import { sum } from '../../domain/sum.ts';
import type {
  AnswerEndTask,
  AnswerReply,
  AnswerSliceReply,
  AnswerSliceTask,
  AnswerTask,
  EncodedShare,
  EncodeReply,
  EncodeTask,
} from '../../runtime/messages.ts';
import type { DecideJob } from '../engine.ts';
import type { CallPart, PartResult, Routing } from '../scheduling/call.ts';
import { countAnswerParts, type DecisionPlan, type SlicedQuestion } from './decision-plan.ts';
import type { KeptShare } from './state-directory.ts';

/** Estimated worker time. */
export interface PartCosts {
  /** All windows. */
  readonly encodeMs: number;
  /** `[questions]` */
  readonly answersMs: readonly number[];
  /** All keys and values, put together once. */
  readonly joinMs: number;
  /** What every task takes. */
  readonly taskMs: number;
}

export interface DecisionPartsOptions {
  readonly job: DecideJob;
  readonly plan: DecisionPlan;
  readonly costs: PartCosts;
  readonly workers: number;
  /** Whether a worker that has put the document together keeps it for its next part. */
  readonly staysJoined: boolean;
  /** Where the document, or its begin, had been kept. */
  readonly kept: KeptShare | undefined;
  readonly takeMemory: () => SharedArrayBuffer;
}

/** A part that is done. */
export interface AnsweredGroup extends PartResult<AnswerReply> {
  /** Of its questions. */
  readonly places: readonly number[];
  /** Whether its worker put the document together for it. */
  readonly hasJoined: boolean;
}

/** A question whose slices are done. */
export interface AnsweredSlices {
  readonly place: number;
  readonly results: readonly PartResult<AnswerSliceReply>[];
  /** How many of its workers put the document together for it. */
  readonly joins: number;
}

export class DecisionParts {
  private readonly options: DecisionPartsOptions;
  /** Workers that have the whole document, and the parts that made it so. */
  private readonly joinedOn = new Set<number>();
  private readonly joinedBy = new Set<number>();

  constructor(options: DecisionPartsOptions) {
    this.options = options;
    if (options.kept?.part === 1) this.joinedOn.add(options.kept.worker);
  }

  encodeParts(): CallPart<EncodeTask>[] {
    const { plan, costs, kept } = this.options;
    const shareMs = costs.encodeMs / plan.shares;
    const copyMs = costs.taskMs + costs.joinMs / plan.shares;
    return Array.from({ length: plan.shares }, (_, share) => {
      const task = () => this.encodeTask(share);
      if (kept === undefined || (share + 1) / plan.shares > kept.part) return { task, costMs: copyMs + shareMs };
      return { task, costMs: copyMs, routing: homeOf(kept.worker, shareMs) };
    });
  }

  /** Of all answering parts together. */
  answersCostMs(): number {
    const { plan, costs } = this.options;
    return sum(costs.answersMs) + this.countJoins() * costs.joinMs + countAnswerParts(plan) * costs.taskMs;
  }

  /** Groups of questions first, then the slices of the others. */
  answerParts(encoded: readonly PartResult<EncodeReply>[]): CallPart<AnswerTask | AnswerSliceTask>[] {
    const { job, plan, costs } = this.options;
    const shares = encoded.map(({ reply }) => reply.share);
    const joins = this.countJoins();
    const groups = plan.groups.map((places): Omit<CallPart<AnswerTask>, 'routing'> => {
      const questions = places.flatMap((place) => job.questions[place] ?? []);
      const costMs = sum(places.map((place) => costs.answersMs[place] ?? 0));
      return { task: () => ({ kind: 'answer', modelId: job.modelId, questions, shares }), costMs };
    });
    const slices = plan.sliced.flatMap((sliced) => this.sliceParts(sliced, shares));
    return [...groups, ...slices].map(({ task, costMs }, part) => ({
      task,
      costMs: costs.taskMs + costMs + (part < joins ? costs.joinMs : 0),
      routing: this.routeAnswer(part),
    }));
  }

  /** @param later results of `answerParts` */
  toGroups(later: readonly PartResult<AnswerReply | AnswerSliceReply>[]): AnsweredGroup[] {
    const { plan } = this.options;
    const groups = later.slice(0, plan.groups.length) as readonly PartResult<AnswerReply>[];
    return groups.map((result, group) => {
      return { ...result, places: plan.groups[group] ?? [], hasJoined: this.joinedBy.has(group) };
    });
  }

  /** @param later results of `answerParts` */
  toSlices(later: readonly PartResult<AnswerReply | AnswerSliceReply>[]): AnsweredSlices[] {
    const { plan } = this.options;
    let from = plan.groups.length;
    return plan.sliced.map(({ place, slices }) => {
      const results = later.slice(from, from + slices) as readonly PartResult<AnswerSliceReply>[];
      const joins = results.filter((_, slice) => this.joinedBy.has(from + slice)).length;
      from += slices;
      return { place, results, joins };
    });
  }

  /** One for each question that came in slices. @param later results of `answerParts` */
  endParts(
    later: readonly PartResult<AnswerReply | AnswerSliceReply>[],
    stateTokens: number,
  ): CallPart<AnswerEndTask>[] {
    const { job, costs } = this.options;
    return this.toSlices(later).flatMap(({ place, results }) => {
      const question = job.questions[place];
      if (question === undefined) return [];
      const vectors = results.flatMap(({ reply }) => reply.vectors);
      const task = (): AnswerEndTask => ({ kind: 'answer-end', modelId: job.modelId, question, stateTokens, vectors });
      return [{ task, costMs: costs.taskMs }];
    });
  }

  private sliceParts(
    { place, slices }: SlicedQuestion,
    shares: readonly EncodedShare[],
  ): Omit<CallPart<AnswerSliceTask>, 'routing'>[] {
    const { job, costs } = this.options;
    const question = job.questions[place];
    if (question === undefined) return [];
    return Array.from({ length: slices }, (_, slice) => ({
      task: () => ({ kind: 'answer-slice', modelId: job.modelId, question, shares, slice, slices }),
      costMs: (costs.answersMs[place] ?? 0) / slices,
    }));
  }

  private encodeTask(share: number): EncodeTask {
    const { job, plan, takeMemory } = this.options;
    // One of them counts the questions for all.
    const questions = share === 0 ? job.questions : [];
    const { modelId, state } = job;
    return { kind: 'encode', modelId, state, questions, share, shares: plan.shares, memory: takeMemory() };
  }

  /** Parts that will have to put the document together: the first on each worker, or all. */
  private countJoins(): number {
    const { plan, workers, staysJoined } = this.options;
    const parts = countAnswerParts(plan);
    if (!staysJoined) return parts;
    return plan.isAnsweredByOne ? 1 : Math.min(parts, workers);
  }

  /** To a worker that has the document together, if one is idle; a giant one to that worker alone. */
  private routeAnswer(part: number): Routing {
    const { plan, costs, staysJoined } = this.options;
    const savedMs = plan.isAnsweredByOne ? Number.POSITIVE_INFINITY : costs.joinMs;
    return {
      mayWait: plan.isAnsweredByOne,
      savedMs: (worker) => (this.joinedOn.has(worker) ? savedMs : 0),
      begin: (worker) => {
        if (staysJoined && this.joinedOn.has(worker)) return;
        this.joinedOn.add(worker);
        this.joinedBy.add(part);
      },
    };
  }
}

function homeOf(home: number, savedMs: number): Routing {
  return { mayWait: true, savedMs: (worker) => (worker === home ? savedMs : 0), begin: () => undefined };
}
