// Door of sharing: an engine around another. Identical jobs under way run once, and answers are kept for a while. Who
// shares what with whom its tickets find out (shared-ticket.ts); what makes jobs identical is job-digest.ts's, what is kept
// of a result kept-answer.ts's.

import type { AnswerCounts } from '../../domain/usage.ts';
import type {
  Caller,
  DecideJob,
  DecideResult,
  EmbedJob,
  EmbedResult,
  Engine,
  Job,
  JobResult,
  RerankJob,
  RerankResult,
  Ticket,
} from '../engine.ts';
import { AnswerCache } from './answer-cache.ts';
import type { KeptAnswer } from './kept-answer.ts';
import { SharedTicket, type Shares } from './shared-ticket.ts';

export interface MergingOptions {
  /** Whether identical jobs under way run once. */
  readonly merge: boolean;
  /** Room for answers; 0: none are kept. */
  readonly cacheBytes: number;
  readonly cacheTtlMs: number;
  /** Who shares: jobs of one key, or of all. */
  readonly scope: 'key' | 'all';
  /** Default: the system's, milliseconds from any fixed point. */
  readonly nowMs?: () => number;
}

export class MergingEngine implements Engine {
  readonly models: Engine['models'];
  readonly #shares: Shares;

  constructor(engine: Engine, options: MergingOptions) {
    const { merge, scope, cacheBytes, cacheTtlMs, nowMs = () => performance.now() } = options;
    this.models = engine.models;
    this.#shares = {
      engine,
      merge,
      scope,
      nowMs,
      modelDigests: new Map(engine.models.map(({ id, digest }) => [id, digest ?? ''])),
      cache: cacheBytes > 0 ? new AnswerCache<KeptAnswer>({ maxBytes: cacheBytes, ttlMs: cacheTtlMs }) : undefined,
      runs: new Map(),
      counts: { miss: 0, merged: 0, hit: 0 },
    };
  }

  get answerCounts(): AnswerCounts {
    const { counts, cache, nowMs } = this.#shares;
    return { ...counts, keptBytes: cache?.bytes(nowMs()) ?? 0 };
  }

  ticketFor(job: DecideJob, caller: Caller): Ticket<DecideResult>;
  ticketFor(job: EmbedJob, caller: Caller): Ticket<EmbedResult>;
  ticketFor(job: RerankJob, caller: Caller): Ticket<RerankResult>;
  ticketFor(job: Job, caller: Caller): Ticket<JobResult>;
  ticketFor(job: Job, caller: Caller): Ticket<JobResult> {
    return new SharedTicket(this.#shares, job, caller);
  }

  status(): ReturnType<Engine['status']> {
    return this.#shares.engine.status();
  }

  drain(): Promise<void> {
    return this.#shares.engine.drain();
  }
}
