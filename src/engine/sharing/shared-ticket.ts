// The ticket of a job that others may share: given what is kept, joined to an identical job under way, or run by a ticket
// of its own, which others may join.

import { AppError } from '../../domain/errors.ts';
import type { Caller, Engine, Job, JobResult, Ticket } from '../engine.ts';
import type { AnswerCache } from './answer-cache.ts';
import { digestOfJob } from './job-digest.ts';
import { bytesOfKept, fromKept, type KeptAnswer, toKept } from './kept-answer.ts';
import { SharedRun } from './shared-run.ts';

/** What all tickets share. */
export interface Shares {
  readonly engine: Engine;
  readonly modelDigests: ReadonlyMap<string, string>;
  readonly merge: boolean;
  readonly scope: 'key' | 'all';
  readonly nowMs: () => number;
  /** undefined: nothing is kept. */
  readonly cache: AnswerCache<KeptAnswer> | undefined;
  /** Under way, by key. */
  readonly runs: Map<string, SharedRun<JobResult>>;
  /** Jobs by where their results came from. */
  readonly counts: Record<'miss' | 'merged' | 'hit', number>;
}

export class SharedTicket implements Ticket<JobResult> {
  readonly #shares: Shares;
  readonly #job: Job;
  readonly #caller: Caller;
  /** undefined: not known yet; null: the job is too long to be looked up. */
  #knownKey: string | null | undefined;
  #ownTicket: Ticket<JobResult> | undefined;
  /** Ends the run of its own when nobody waits for it; undefined: nobody may share it. */
  #everybody: AbortController | undefined;
  #result: Promise<JobResult> | undefined;

  constructor(shares: Shares, job: Job, caller: Caller) {
    this.#shares = shares;
    this.#job = job;
    this.#caller = caller;
  }

  async countTokens(): Promise<number> {
    return this.#findKept()?.inputTokens ?? (await this.#own.countTokens());
  }

  enter(): void {
    if (this.#result !== undefined) return;
    this.#caller.signal.throwIfAborted();
    this.#result = this.#findResult();
    // It may fail before anybody waits for it.
    this.#result.catch(() => undefined);
  }

  async run(): Promise<JobResult> {
    this.enter();
    return await (this.#result as Promise<JobResult>);
  }

  #findResult(): Promise<JobResult> {
    const { counts, runs } = this.#shares;
    const kept = this.#findKept();
    const restored = kept && fromKept(kept, this.#job);
    if (restored !== undefined) {
      counts.hit += 1;
      return Promise.resolve(restored);
    }
    const running = this.#key === null ? undefined : runs.get(this.#key);
    // One that everybody has left may be given up at any moment.
    return running?.isWanted === true ? this.#join(running) : this.#start();
  }

  /** @throws what the engine's ticket says: nobody shares a refusal */
  #start(): Promise<JobResult> {
    const { counts, runs } = this.#shares;
    const ticket = this.#own;
    ticket.enter();
    counts.miss += 1;
    const [key, everybody] = [this.#key, this.#everybody];
    if (key === null) return ticket.run();
    if (everybody === undefined) return ticket.run().then((result) => this.#keep(key, result));
    const run = new SharedRun<JobResult>(everybody, this.#caller.deadlineMs);
    runs.set(key, run);
    const forget = (): void => {
      if (runs.get(key) === run) runs.delete(key);
    };
    ticket.run().then(
      (result) => {
        forget();
        run.end(this.#keep(key, result));
      },
      (error: unknown) => {
        forget();
        run.fail(error);
      },
    );
    return run.wait(this.#caller.signal);
  }

  /**
   * Whatever the caller's deadline is: what runs already ends sooner than a run of its own would, and it costs nothing.
   */
  async #join(run: SharedRun<JobResult>): Promise<JobResult> {
    const { nowMs, counts } = this.#shares;
    const { signal, deadlineMs } = this.#caller;
    const sinceMs = nowMs();
    let result: JobResult;
    try {
      result = await run.wait(signal);
    } catch (error) {
      // Refused because whoever began it was in a greater hurry than this caller is.
      const isHurried = (run.deadlineMs ?? Infinity) < (deadlineMs ?? Infinity);
      if (isHurried && error instanceof AppError && error.code === 'overloaded') return await this.#findResult();
      throw error;
    }
    counts.merged += 1;
    const { keptTokens } = result.source;
    // All that this caller's time went into was to wait.
    const timings = { queueMs: nowMs() - sinceMs, tokenizeMs: 0, inferMs: 0 };
    return { ...result, timings, source: { answer: 'merged', keptTokens } };
  }

  #keep(key: string, result: JobResult): JobResult {
    const { cache, nowMs } = this.#shares;
    if (cache === undefined) return result;
    const value = toKept(result);
    cache.keep(key, { value, valueBytes: bytesOfKept(value), nowMs: nowMs() });
    return result;
  }

  #findKept(): KeptAnswer | undefined {
    const { cache, nowMs } = this.#shares;
    return cache === undefined || this.#key === null ? undefined : cache.find(this.#key, nowMs());
  }

  get #own(): Ticket<JobResult> {
    if (this.#ownTicket !== undefined) return this.#ownTicket;
    const { engine, merge } = this.#shares;
    if (merge && this.#key !== null) this.#everybody = new AbortController();
    const caller = this.#everybody === undefined ? this.#caller : { ...this.#caller, signal: this.#everybody.signal };
    this.#ownTicket = engine.ticketFor(this.#job, caller);
    return this.#ownTicket;
  }

  get #key(): string | null {
    if (this.#knownKey !== undefined) return this.#knownKey;
    const { modelDigests, scope } = this.#shares;
    const digest = digestOfJob(this.#job, modelDigests.get(this.#job.modelId) ?? '');
    this.#knownKey = digest === undefined ? null : scope === 'all' ? digest : `${digest} ${this.#caller.keyId}`;
    return this.#knownKey;
  }
}
