// What a server does for the store by the way: says that it lives, closes what dead servers left open, drops replies whose
// time is over, and rolls up old rows. Never on the path of a request; what fails is tried again.

import { randomUUID } from 'node:crypto';
import type { Clock } from '../../domain/clock.ts';
import type { LedgerStore, UsageStore } from '../../storage/stores.ts';
import { wallClock } from '../wall-clock.ts';
import { type JobEvent, PeriodicJob } from './periodic-job.ts';

export interface HousekeepingOptions {
  readonly ledger: Pick<LedgerStore, 'beat' | 'leave' | 'recover' | 'purgeReplies'>;
  readonly usage: Pick<UsageStore, 'rollUp'>;
  /** Whether other servers may work on the same store. Otherwise all that is open at the start was left by a dead one. */
  readonly isShared: boolean;
  /** A server that gave no sign of life for that long is dead. */
  readonly instanceTimeoutMs: number;
  /** undefined: rows are kept. */
  readonly retentionDays: number | undefined;
  readonly onEvent: (event: JobEvent) => void;
  /** Default: the system's. */
  readonly clock?: Clock;
}

const DAY_MS = 86_400_000;
const PURGE_INTERVAL_MS = 60_000;
const ROLL_UP_INTERVAL_MS = 3_600_000;
/** Rows per transaction: requests wait for as long as one takes, some milliseconds. */
const ROLL_UP_ROWS = 200;
/** Two signs of life may get lost before a server is taken for dead. */
const BEATS_PER_TIMEOUT = 3;

export class Housekeeping {
  /** Of this process, for its reservations. */
  readonly instanceId = `instance_${randomUUID()}`;
  readonly #options: HousekeepingOptions;
  readonly #clock: Clock;
  readonly #jobs: readonly PeriodicJob[];
  /** Since when this process has been in touch with the store without a break. */
  #inTouchSinceMs: number | undefined;
  #lastBeatAtMs = 0;
  #isStopping = false;

  constructor(options: HousekeepingOptions) {
    const { clock = wallClock, onEvent, instanceTimeoutMs, retentionDays } = options;
    this.#options = options;
    this.#clock = clock;
    const job = (name: string, intervalMs: number, run: () => Promise<void>): PeriodicJob =>
      new PeriodicJob({ name, intervalMs, run, clock, onEvent });
    this.#jobs = [
      job('sign of life', Math.floor(instanceTimeoutMs / BEATS_PER_TIMEOUT), () => this.#beatAndRecover()),
      job('purge of kept replies', PURGE_INTERVAL_MS, () => this.#purge()),
      ...(retentionDays === undefined
        ? []
        : [job('roll-up of old rows', ROLL_UP_INTERVAL_MS, () => this.#rollUp(retentionDays * DAY_MS))]),
    ];
  }

  /**
   * Before the first request: from then on this process counts as alive.
   * @throws StoreUnavailableError
   */
  async start(): Promise<void> {
    if (!this.#options.isShared) await this.#recover(Number.MAX_SAFE_INTEGER, this.#clock.nowMs());
    await this.#beat();
    for (const job of this.#jobs) job.start();
  }

  /** After the last request. Does not throw: what this process leaves behind is recovered by others or at the next start. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#jobs.map((job) => job.stop()));
    try {
      await this.#options.ledger.leave(this.instanceId);
    } catch (error) {
      this.#options.onEvent({ level: 'warn', message: 'the store was not told that this server ends', error });
    }
  }

  /** @returns its time */
  async #beat(): Promise<number> {
    const nowMs = this.#clock.nowMs();
    // After a gap (a failing store, a suspended process, a changed clock) the others may not have been heard of either.
    const gapMs = nowMs - this.#lastBeatAtMs;
    if (gapMs < 0 || gapMs > this.#options.instanceTimeoutMs) this.#inTouchSinceMs = undefined;
    await this.#options.ledger.beat(this.instanceId, nowMs);
    this.#lastBeatAtMs = nowMs;
    this.#inTouchSinceMs ??= nowMs;
    return nowMs;
  }

  /**
   * Only a process that has itself been in touch for the whole time can tell that another one was silent: when a store
   * that was away comes back, the servers that live get the time to say so.
   */
  async #beatAndRecover(): Promise<void> {
    const nowMs = await this.#beat().catch((error: unknown) => {
      this.#inTouchSinceMs = undefined;
      throw error;
    });
    // Not the time it is now: since the beat this process may have been suspended, and then knows nothing of the others.
    const deadBeforeMs = nowMs - this.#options.instanceTimeoutMs;
    if (this.#inTouchSinceMs !== undefined && this.#inTouchSinceMs <= deadBeforeMs) {
      await this.#recover(deadBeforeMs, nowMs);
    }
  }

  async #recover(deadBeforeMs: number, nowMs: number): Promise<void> {
    const rows = await this.#options.ledger.recover(deadBeforeMs, nowMs);
    if (rows === 0) return;
    const details = { rows };
    this.#options.onEvent({ level: 'warn', message: 'closed requests that a dead server had left open', details });
  }

  async #purge(): Promise<void> {
    await this.#options.ledger.purgeReplies(this.#clock.nowMs());
  }

  async #rollUp(retentionMs: number): Promise<void> {
    const beforeMs = this.#clock.nowMs() - retentionMs;
    let rows = 0;
    let last = ROLL_UP_ROWS;
    while (last === ROLL_UP_ROWS && !this.#isStopping) {
      last = await this.#options.usage.rollUp(beforeMs, ROLL_UP_ROWS);
      rows += last;
    }
    if (rows > 0) this.#options.onEvent({ level: 'info', message: 'rolled up old rows', details: { rows } });
  }
}
