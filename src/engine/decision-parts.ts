// The tasks of one decision in parts: shares of its document, then groups of its questions, with what each costs and where
// it runs cheaper. Queue and memory are the decider's.

import type { AnswerReply, AnswerTask, EncodeReply, EncodeTask } from '../runtime/messages.ts';
import type { CallPart, PartResult, Routing } from './call.ts';
import type { DecisionPlan } from './decision-plan.ts';
import type { DecideJob } from './engine.ts';
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

export class DecisionParts {
  private readonly options: DecisionPartsOptions;
  /** Workers that have the whole document, and the groups that made it so. */
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
    return sum(costs.answersMs) + this.countJoins() * costs.joinMs + plan.groups.length * costs.taskMs;
  }

  answerParts(encoded: readonly PartResult<EncodeReply>[]): CallPart<AnswerTask>[] {
    const { job, plan, costs } = this.options;
    const shares = encoded.map(({ reply }) => reply.share);
    const joins = this.countJoins();
    return plan.groups.map((places, group) => {
      const questions = places.flatMap((place) => job.questions[place] ?? []);
      const joinMs = group < joins ? costs.joinMs : 0;
      const costMs = costs.taskMs + joinMs + sum(places.map((place) => costs.answersMs[place] ?? 0));
      return {
        task: () => ({ kind: 'answer', modelId: job.modelId, questions, shares }),
        costMs,
        routing: this.routeAnswer(group),
      };
    });
  }

  toGroups(later: readonly PartResult<AnswerReply>[]): AnsweredGroup[] {
    const { plan } = this.options;
    return later.map((result, group) => {
      return { ...result, places: plan.groups[group] ?? [], hasJoined: this.joinedBy.has(group) };
    });
  }

  private encodeTask(share: number): EncodeTask {
    const { job, plan, takeMemory } = this.options;
    // One of them counts the questions for all.
    const questions = share === 0 ? job.questions : [];
    const { modelId, state } = job;
    return { kind: 'encode', modelId, state, questions, share, shares: plan.shares, memory: takeMemory() };
  }

  /** Groups that will have to put the document together: the first on each worker, or all. */
  private countJoins(): number {
    const { plan, workers, staysJoined } = this.options;
    if (!staysJoined) return plan.groups.length;
    return plan.isAnsweredByOne ? 1 : Math.min(plan.groups.length, workers);
  }

  /** To a worker that has the document together, if one is idle; a giant one to that worker alone. */
  private routeAnswer(group: number): Routing {
    const { plan, costs, staysJoined } = this.options;
    const savedMs = plan.isAnsweredByOne ? Number.POSITIVE_INFINITY : costs.joinMs;
    return {
      mayWait: plan.isAnsweredByOne,
      savedMs: (worker) => (this.joinedOn.has(worker) ? savedMs : 0),
      begin: (worker) => {
        if (staysJoined && this.joinedOn.has(worker)) return;
        this.joinedOn.add(worker);
        this.joinedBy.add(group);
      },
    };
  }
}

function homeOf(home: number, savedMs: number): Routing {
  return { mayWait: true, savedMs: (worker) => (worker === home ? savedMs : 0), begin: () => undefined };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
