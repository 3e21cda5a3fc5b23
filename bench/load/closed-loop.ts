// A closed loop on one server, in slices that take turns with those of others: each of n clients sends its next request when it
// has its answer. Slices of one cell are put together at the end.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Member } from '../servers/fleet.ts';
import type { BenchReply } from './client.ts';
import type { Work } from './loads.ts';
import { type LatencySummary, median, sum, summariseLatencies } from './statistics.ts';

const MAX_WAIT_MS = 1000;
/** A slice goes on until there was a reply for each client after the ramp, but no longer than this. */
const MAX_SLICE_MS = 40_000;

export interface SliceOptions {
  readonly member: Pick<Member, 'running' | 'client'>;
  readonly next: () => Work;
  readonly concurrency: number;
  readonly durationMs: number;
}

export interface ClosedSlice {
  readonly elapsedMs: number;
  readonly latenciesMs: readonly number[];
  readonly tokens: number;
  readonly refused: number;
  readonly errors: number;
  /** CPU of the bench's own process, as a share of one core. */
  readonly clientShare: number;
}

export interface ClosedFigures {
  readonly requestsPerSecond: number;
  /** Of each slice, in the order they were measured. */
  readonly requestsPerSecondBySlice: readonly number[];
  readonly tokensPerSecond: number;
  readonly latency: LatencySummary;
  readonly refused: number;
  readonly errors: number;
  readonly clientShare: number;
}

/** The first answer of each client is the ramp and is left out, with the time it took. */
export async function runClosedSlice(options: SliceOptions): Promise<ClosedSlice> {
  const { concurrency, durationMs } = options;
  const slice = new Slice(concurrency, durationMs);
  const cpuBefore = process.cpuUsage();
  const startedMs = performance.now();
  await Promise.all(Array.from({ length: concurrency }, () => runClient(options, slice)));
  const { user, system } = process.cpuUsage(cpuBefore);
  return slice.summarise((user + system) / 1000 / (performance.now() - startedMs));
}

async function runClient({ member, next }: SliceOptions, slice: Slice): Promise<void> {
  while (!slice.isOver) {
    const { job, tokens } = next();
    const { path, body } = member.running.requestFor(job);
    const reply = await member.client.post(path, body).catch(() => undefined);
    slice.add(reply, tokens);
    if (isRefusal(reply)) await sleep(Math.min(reply?.retryAfterMs ?? MAX_WAIT_MS, MAX_WAIT_MS));
  }
}

export function isRefusal(reply: BenchReply | undefined): boolean {
  return reply?.status === 503 || reply?.status === 429;
}

class Slice {
  isOver = false;
  readonly #ramp: number;
  readonly #durationMs: number;
  readonly #createdMs = performance.now();
  readonly #latenciesMs: number[] = [];
  #seen = 0;
  #startedMs = 0;
  #endedMs = 0;
  #tokens = 0;
  #refused = 0;
  #errors = 0;

  constructor(ramp: number, durationMs: number) {
    this.#ramp = ramp;
    this.#durationMs = durationMs;
  }

  /** What comes after the end ran beside fewer clients than it should, and does not count. */
  add(reply: BenchReply | undefined, tokens: number): void {
    if (this.isOver) return;
    const nowMs = performance.now();
    this.#endedMs = nowMs;
    this.#seen++;
    if (this.#seen <= this.#ramp) this.#startedMs = nowMs;
    else if (isRefusal(reply)) this.#refused++;
    else if (reply?.status !== 200) this.#errors++;
    else {
      this.#latenciesMs.push(reply.latencyMs);
      this.#tokens += tokens;
    }
    this.isOver = this.#hasEnough(nowMs);
  }

  #hasEnough(nowMs: number): boolean {
    if (nowMs - this.#createdMs > Math.max(MAX_SLICE_MS, 10 * this.#durationMs)) return true;
    return this.#seen >= 2 * this.#ramp && nowMs - this.#startedMs >= this.#durationMs;
  }

  summarise(clientShare: number): ClosedSlice {
    return {
      elapsedMs: this.#endedMs - this.#startedMs,
      latenciesMs: this.#latenciesMs,
      tokens: this.#tokens,
      refused: this.#refused,
      errors: this.#errors,
      clientShare,
    };
  }
}

export function joinSlices(slices: readonly ClosedSlice[]): ClosedFigures {
  const elapsedMs = sum(slices.map((slice) => slice.elapsedMs));
  const latenciesMs = slices.flatMap((slice) => slice.latenciesMs);
  const perSecond = (count: number, ms: number): number => (count / ms) * 1000;
  return {
    requestsPerSecond: perSecond(latenciesMs.length, elapsedMs),
    requestsPerSecondBySlice: slices.map((slice) => perSecond(slice.latenciesMs.length, slice.elapsedMs)),
    tokensPerSecond: perSecond(sum(slices.map(({ tokens }) => tokens)), elapsedMs),
    latency: summariseLatencies(latenciesMs),
    refused: sum(slices.map(({ refused }) => refused)),
    errors: sum(slices.map(({ errors }) => errors)),
    clientShare: median(slices.map((slice) => slice.clientShare)),
  };
}
