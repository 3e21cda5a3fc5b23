// One decision model's jobs: to one worker alone, or to several that share the work where they would otherwise idle.
// The answer is the same to the bit.

import { toAnswer } from '../domain/answer.ts';
import type { AnswerTask, DecideTask, EncodedShare, EncodeTask } from '../runtime/messages.ts';
import type { CallResult } from './call.ts';
import type { CostModel } from './cost-model.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { Caller, DecideJob, DecideResult } from './engine.ts';
import { groupQuestions, planSharing, type SharingPlan } from './shared-decision.ts';
import { sizeOfDecision } from './work-size.ts';

/** Memories larger than this are not kept for the next decision. */
const KEPT_MEMORY_BYTES = 16 * 1024 * 1024;

interface Reply {
  readonly tokenizeMs: number;
  readonly inferMs: number;
}

interface Outcome extends Reply {
  /** `[questions][options]` */
  readonly probabilities: readonly (readonly number[])[];
  readonly inputTokens: number;
  readonly queueMs: number;
  /** Of all workers together. */
  readonly wallMs: number;
}

export class Decider {
  private readonly dispatcher: Dispatcher;
  private readonly costs: CostModel;
  private readonly windowTokens: number;
  /** Shared memories that nobody reads at the moment. */
  private memories: SharedArrayBuffer[] = [];

  constructor(dispatcher: Dispatcher, costs: CostModel, windowTokens: number) {
    this.dispatcher = dispatcher;
    this.costs = costs;
    this.windowTokens = windowTokens;
  }

  async decide(job: DecideJob, caller: Caller): Promise<DecideResult> {
    const size = sizeOfDecision(job);
    const costMs = this.costs.estimateMs(size);
    const plan = planSharing({
      idleWorkers: this.dispatcher.idleWorkers,
      queuedJobs: this.dispatcher.queuedJobs,
      costMs,
      stateTokens: this.costs.estimateTokens(size.stateCharacters),
      windowTokens: this.windowTokens,
      questions: job.questions.length,
    });
    const outcome = await (plan === undefined
      ? this.decideAlone(job, costMs, caller)
      : this.decideTogether(job, { plan, costMs, caller }));
    const { probabilities, inputTokens, queueMs, tokenizeMs, inferMs, wallMs } = outcome;
    this.costs.observe({ ...size, inputTokens, wallMs });
    const answers = job.questions.map((question, place) => toAnswer(question, probabilities[place] ?? []));
    const source = { answer: 'run', keptTokens: 0 } as const;
    return { answers, inputTokens, timings: { queueMs, tokenizeMs, inferMs }, source };
  }

  private async decideAlone(job: DecideJob, costMs: number, caller: Caller): Promise<Outcome> {
    const task: DecideTask = { kind: 'decide', ...job };
    const result = await this.dispatcher.submit([{ task, costMs }], { ...caller, queueClass: 'decision' });
    const [part] = result.parts;
    if (part === undefined) throw new Error('a decision came back without its only part');
    return { ...part.reply, queueMs: result.queueMs, wallMs: part.wallMs };
  }

  private async decideTogether(
    job: DecideJob,
    { plan, costMs, caller }: { plan: SharingPlan; costMs: number; caller: Caller },
  ): Promise<Outcome> {
    const encoded = await this.encode(job, { plan, costMs, caller });
    const shares = encoded.parts.map(({ reply }) => reply.share);
    const { modelId, questions } = job;
    const groups = groupQuestions(questions, plan.groups);
    const tasks = groups.map((places): AnswerTask => {
      const group = questions.filter((_, place) => places.includes(place));
      return { kind: 'answer', modelId, questions: group, shares };
    });
    const answered = await this.dispatcher.submit(
      tasks.map((task) => ({ task, costMs: costMs / (2 * plan.groups) })),
      { ...caller, queueClass: 'continuation' },
    );
    this.keep(shares);
    const probabilities: (readonly number[])[] = [];
    for (const [group, places] of groups.entries()) {
      for (const [at, place] of places.entries()) {
        probabilities[place] = answered.parts[group]?.reply.probabilities[at] ?? [];
      }
    }
    return {
      probabilities,
      // The first share has counted the questions; a share that failed would have ended the call.
      inputTokens: encoded.parts[0]?.reply.inputTokens ?? 0,
      queueMs: encoded.queueMs + answered.queueMs,
      tokenizeMs: longest(encoded, 'tokenizeMs') + longest(answered, 'tokenizeMs'),
      inferMs: longest(encoded, 'inferMs') + longest(answered, 'inferMs'),
      wallMs: totalWallMs(encoded) + totalWallMs(answered),
    };
  }

  private encode(
    { modelId, state, questions }: DecideJob,
    { plan, costMs, caller }: { plan: SharingPlan; costMs: number; caller: Caller },
  ) {
    const tasks = Array.from({ length: plan.shares }, (_, share): EncodeTask => {
      // One of them counts the questions for all.
      const counted = share === 0 ? questions : [];
      const memory = this.memories.pop();
      return { kind: 'encode', modelId, state, questions: counted, share, shares: plan.shares, memory };
    });
    const parts = tasks.map((task) => ({ task, costMs: costMs / (2 * plan.shares) }));
    return this.dispatcher.submit(parts, { ...caller, queueClass: 'decision' });
  }

  /** Only after a decision that went well: after a failure a worker may still be writing. */
  private keep(shares: readonly EncodedShare[]): void {
    const kept = shares.map(({ memory }) => memory).filter(({ byteLength }) => byteLength <= KEPT_MEMORY_BYTES);
    this.memories = [...this.memories, ...kept].slice(0, this.dispatcher.workers);
  }
}

function longest(result: CallResult<Reply>, time: keyof Reply): number {
  return Math.max(...result.parts.map(({ reply }) => reply[time]));
}

function totalWallMs(result: CallResult<unknown>): number {
  return result.parts.reduce((sum, { wallMs }) => sum + wallMs, 0);
}
