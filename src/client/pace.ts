// How many requests may be under way: enough to keep the server busy, never so many that it must refuse. It learns from
// what each reply says. Does not ask anything itself.

import { setTimeout } from 'node:timers/promises';

/** Time as waiting sees it; handed in, so that tests can move it by hand. */
export interface PaceClock {
  nowMs(): number;
  /** @throws the signal's reason, as soon as it is aborted */
  pause(delayMs: number, signal?: AbortSignal): Promise<void>;
}

export const paceClock: PaceClock = {
  nowMs: () => performance.now(),
  pause: (delayMs, signal) => setTimeout(delayMs, undefined, signal === undefined ? {} : { signal }),
};

/** How one request ended, as far as the pace is concerned. */
export type PaceNews =
  /** `queueShare`: of the time in the server, how much was waiting, 0 to 1. undefined: it did not say. */
  | { readonly type: 'answered'; readonly queueShare: number | undefined }
  /** The server wants nothing for a while. */
  | { readonly type: 'refused'; readonly waitMs: number }
  /** Says nothing of how busy the server is. */
  | { readonly type: 'other' };

const FIRST_LIMIT = 2;
/** A queue that is shorter than this share of the time leaves the server idle between requests. */
const LEAST_QUEUE_SHARE = 0.3;
/** Longer than this, more requests only wait. */
const MOST_QUEUE_SHARE = 0.6;
/** Pauses are lengthened by up to so much: clients that were refused together do not come back together. */
const JITTER = 0.2;

/** One request that was let go. */
export interface PacePass {
  /** Of the server's refusals so far: those of one moment count once. */
  readonly epoch: number;
}

export class Pace {
  readonly #atMost: number;
  readonly #clock: PaceClock;
  readonly #random: () => number;
  #limit = FIRST_LIMIT;
  #underWay = 0;
  #epoch = 0;
  #pausedUntilMs = 0;
  /** Until a queue has been seen: the limit doubles. */
  #isStarting = true;
  /** After a pause one request goes first. */
  #isTrying = false;
  #waiting: (() => void)[] = [];

  /** @param atMost requests under way, whatever the server bears */
  constructor(atMost: number, clock: PaceClock, random: () => number = Math.random) {
    this.#atMost = atMost;
    this.#clock = clock;
    this.#random = random;
  }

  get underWay(): number {
    return this.#underWay;
  }

  /** Resolves when a request may go. Whoever gets a pass must `leave`. @throws the signal's reason */
  async enter(signal: AbortSignal): Promise<PacePass> {
    for (;;) {
      signal.throwIfAborted();
      const waitMs = this.#pausedUntilMs - this.#clock.nowMs();
      if (waitMs > 0) await this.#clock.pause(waitMs, signal);
      else if (this.#underWay < this.#allowed()) break;
      else await this.#change(signal);
    }
    this.#underWay++;
    return { epoch: this.#epoch };
  }

  leave({ epoch }: PacePass, news: PaceNews): void {
    this.#underWay--;
    if (news.type === 'refused') this.#slowDown(epoch, news.waitMs);
    if (news.type === 'answered') this.#learn(news.queueShare);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  #allowed(): number {
    return this.#isTrying ? 1 : Math.min(this.#atMost, Math.floor(this.#limit));
  }

  #slowDown(epoch: number, waitMs: number): void {
    const untilMs = this.#clock.nowMs() + waitMs * (1 + JITTER * this.#random());
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, untilMs);
    this.#isStarting = false;
    this.#isTrying = true;
    if (epoch !== this.#epoch) return;
    this.#epoch++;
    this.#limit = Math.max(1, this.#limit / 2);
  }

  /** Without a word of the queue it grows until it is refused. */
  #learn(queueShare = 0): void {
    this.#isTrying = false;
    if (queueShare > LEAST_QUEUE_SHARE) this.#isStarting = false;
    const step = this.#isStarting ? 1 : 1 / this.#limit;
    if (queueShare < LEAST_QUEUE_SHARE) this.#limit = Math.min(this.#atMost, this.#limit + step);
    else if (queueShare > MOST_QUEUE_SHARE) this.#limit = Math.max(1, this.#limit - step);
  }

  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => reject(signal.reason);
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(() => {
        signal.removeEventListener('abort', leave);
        resolve();
      });
    });
  }
}
