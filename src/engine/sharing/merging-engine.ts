// Door of sharing: an engine around another. Identical jobs under way run once, and answers are kept for a
// while. Owns who shares what with whom; what makes jobs identical is job-digest.ts's, what is
// kept of a result kept-answer.ts's.

import { AppError } from '../../domain/errors.ts';
import type { Caller, DecideJob, DecideResult, EmbedJob, EmbedResult, Engine } from '../engine.ts';
import { AnswerCache } from './answer-cache.ts';
import { digestOfJob } from './job-digest.ts';
import {
  bytesOfDecision,
  bytesOfEmbeddings,
  fromKeptDecision,
  fromKeptEmbeddings,
  type KeptDecision,
  type KeptEmbeddings,
  toKeptDecision,
} from './kept-answer.ts';
import { SharedRun } from './shared-run.ts';

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

/** Jobs since the start, by where their results came from, and what is kept at the moment. */
export interface AnswerCounts {
  readonly miss: number;
  readonly merged: number;
  readonly hit: number;
  readonly keptBytes: number;
}

type Job = DecideJob | EmbedJob;
type Result = DecideResult | EmbedResult;
type Kept = KeptDecision | KeptEmbeddings;

interface Run<Of extends Result> {
  readonly shared: SharedRun<Of>;
  /** Of the caller that began it. */
  readonly deadlineMs: number | undefined;
}

/** One job, in the terms of its kind. */
interface Asked<Of extends Result> {
  readonly job: Job;
  readonly caller: Caller;
  readonly runs: Map<string, Run<Of>>;
  readonly run: (caller: Caller) => Promise<Of>;
  readonly restore: (kept: Kept) => Of | undefined;
  readonly keep: (result: Of) => { readonly value: Kept; readonly valueBytes: number };
}

export class MergingEngine implements Engine {
  readonly models: Engine['models'];
  readonly #inner: Engine;
  readonly #options: MergingOptions;
  readonly #nowMs: () => number;
  readonly #cache: AnswerCache<Kept>;
  readonly #decisions = new Map<string, Run<DecideResult>>();
  readonly #embeddings = new Map<string, Run<EmbedResult>>();
  readonly #modelDigests: ReadonlyMap<string, string>;
  /** A job is looked up several times on its way. */
  readonly #digests = new WeakMap<Job, { readonly digest: string | undefined }>();
  readonly #counts = { miss: 0, merged: 0, hit: 0 };

  constructor(inner: Engine, options: MergingOptions) {
    this.#inner = inner;
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.models = inner.models;
    this.#modelDigests = new Map(inner.models.map(({ id, digest }) => [id, digest ?? '']));
    this.#cache = new AnswerCache({ maxBytes: options.cacheBytes, ttlMs: options.cacheTtlMs });
  }

  get answerCounts(): AnswerCounts {
    return { ...this.#counts, keptBytes: this.#cache.bytes(this.#nowMs()) };
  }

  decide(job: DecideJob, caller: Caller): Promise<DecideResult> {
    return this.#answer({
      job,
      caller,
      runs: this.#decisions,
      run: (shared) => this.#inner.decide(job, shared),
      restore: (kept) => ('probabilities' in kept ? fromKeptDecision(kept, job) : undefined),
      keep: (result) => {
        const value = toKeptDecision(result);
        return { value, valueBytes: bytesOfDecision(value) };
      },
    });
  }

  embed(job: EmbedJob, caller: Caller): Promise<EmbedResult> {
    return this.#answer({
      job,
      caller,
      runs: this.#embeddings,
      run: (shared) => this.#inner.embed(job, shared),
      restore: (kept) => ('embeddings' in kept ? fromKeptEmbeddings(kept) : undefined),
      keep: ({ embeddings, inputTokens, truncated }) => {
        const value = { embeddings, inputTokens, truncated };
        return { value, valueBytes: bytesOfEmbeddings(value) };
      },
    });
  }

  async countDecisionTokens(job: DecideJob, caller: Caller): Promise<number> {
    return this.#find(job, caller)?.inputTokens ?? (await this.#inner.countDecisionTokens(job, caller));
  }

  async countEmbeddingTokens(job: EmbedJob, caller: Caller): Promise<number> {
    return this.#find(job, caller)?.inputTokens ?? (await this.#inner.countEmbeddingTokens(job, caller));
  }

  /** What is kept, or under way, costs nothing: it is answered under any load. */
  findRefusal(job: Job, caller: Caller): AppError | undefined {
    const refusal = this.#inner.findRefusal(job, caller);
    if (refusal === undefined) return undefined;
    const key = this.#keyOf(job, caller);
    if (key === undefined) return refusal;
    const runs = 'state' in job ? this.#decisions : this.#embeddings;
    const isShared = this.#find(job, caller) !== undefined || runs.get(key)?.shared.isWanted === true;
    return isShared ? undefined : refusal;
  }

  status(): ReturnType<Engine['status']> {
    return this.#inner.status();
  }

  drain(): Promise<void> {
    return this.#inner.drain();
  }

  async #answer<Of extends Result>(asked: Asked<Of>): Promise<Of> {
    const { job, caller, runs } = asked;
    const key = this.#keyOf(job, caller);
    const kept = this.#find(job, caller);
    const restored = kept === undefined ? undefined : asked.restore(kept);
    if (restored !== undefined) {
      caller.signal.throwIfAborted();
      this.#counts.hit += 1;
      return restored;
    }
    const running = key === undefined ? undefined : runs.get(key);
    // One that everybody has left may be given up at any moment.
    if (running?.shared.isWanted === true) return await this.#join(running, asked);
    this.#counts.miss += 1;
    if (key === undefined) return await asked.run(caller);
    return await this.#start(key, asked);
  }

  #start<Of extends Result>(key: string, asked: Asked<Of>): Promise<Of> {
    const { caller, runs, run } = asked;
    if (!this.#options.merge) return this.#kept(key, asked, run(caller));
    const shared = new SharedRun((signal) => this.#kept(key, asked, run({ ...caller, signal })));
    const entry = { shared, deadlineMs: caller.deadlineMs };
    runs.set(key, entry);
    const forget = (): void => {
      if (runs.get(key) === entry) runs.delete(key);
    };
    shared.outcome.then(forget, forget);
    return shared.wait(caller.signal);
  }

  /** Failures are not kept. */
  async #kept<Of extends Result>(key: string, { keep }: Asked<Of>, running: Promise<Of>): Promise<Of> {
    const result = await running;
    if (this.#options.cacheBytes > 0) this.#cache.keep(key, { ...keep(result), nowMs: this.#nowMs() });
    return result;
  }

  /**
   * Whatever the caller's deadline is: what runs already ends sooner than a run of its own would, and it costs nothing.
   */
  async #join<Of extends Result>({ shared, deadlineMs }: Run<Of>, asked: Asked<Of>): Promise<Of> {
    const { caller } = asked;
    const sinceMs = this.#nowMs();
    let result: Of;
    try {
      result = await shared.wait(caller.signal);
    } catch (error) {
      // Refused because whoever began it was in a greater hurry than this caller is.
      const isHurried = (deadlineMs ?? Infinity) < (caller.deadlineMs ?? Infinity);
      if (isHurried && error instanceof AppError && error.code === 'overloaded') return await this.#answer(asked);
      throw error;
    }
    this.#counts.merged += 1;
    const { keptTokens } = result.source;
    // All that this caller's time went into was to wait.
    const timings = { queueMs: this.#nowMs() - sinceMs, tokenizeMs: 0, inferMs: 0 };
    return { ...result, timings, source: { answer: 'merged', keptTokens } };
  }

  #find(job: Job, caller: Caller): Kept | undefined {
    const key = this.#options.cacheBytes > 0 ? this.#keyOf(job, caller) : undefined;
    return key === undefined ? undefined : this.#cache.find(key, this.#nowMs());
  }

  #keyOf(job: Job, { keyId }: Caller): string | undefined {
    let known = this.#digests.get(job);
    if (known === undefined) {
      known = { digest: digestOfJob(job, this.#modelDigests.get(job.modelId) ?? '') };
      this.#digests.set(job, known);
    }
    const { digest } = known;
    return digest === undefined || this.#options.scope === 'all' ? digest : `${digest} ${keyId}`;
  }
}
