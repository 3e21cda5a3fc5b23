// Load on a server: a closed loop (each of n clients sends its next request when it has its answer) and a paced one.

import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchClient, BenchReply } from './client.ts';
import { type LatencySummary, summariseLatencies } from './statistics.ts';
import type { Mix } from './workload.ts';

export interface LoadOptions {
  readonly client: BenchClient;
  readonly mix: Mix;
  /** How many requests are in flight at any time. */
  readonly concurrency: number;
  readonly durationMs: number;
  /** Keeps going past `durationMs` until so many are answered, but never past `maxDurationMs`. */
  readonly minSamples: number;
  readonly maxDurationMs: number;
}

export interface LoadResult {
  readonly mix: string;
  readonly concurrency: number;
  readonly elapsedMs: number;
  readonly requestsPerSecond: number;
  /** Input tokens, as the server counts them. */
  readonly tokensPerSecond: number;
  readonly latency: LatencySummary;
  /** 503: the server said that it is full, and when to come back. Not among the latencies. */
  readonly refused: number;
  /** Every other answer but 200, and broken connections. */
  readonly errors: number;
}

/** The first answer of each client is the ramp and is left out, with the time it took. */
export async function runClosedLoop(options: LoadOptions): Promise<LoadResult> {
  const { concurrency, durationMs, minSamples, maxDurationMs } = options;
  const tally = new Tally(concurrency);
  const startedMs = performance.now();
  const isOver = (): boolean => {
    const elapsedMs = performance.now() - startedMs;
    return elapsedMs > maxDurationMs || (elapsedMs > durationMs && tally.answered >= minSamples);
  };
  await Promise.all(Array.from({ length: concurrency }, () => runClient(options, tally, isOver)));
  tally.end();
  return tally.summarise(options);
}

async function runClient({ client, mix }: LoadOptions, tally: Tally, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const reply = await client.post(mix.path, mix.makeBody()).catch(() => undefined);
    tally.add(reply);
    // What is answered after this moment ran beside fewer clients than it should, and does not count.
    if (isOver()) tally.end();
    if (reply?.status === 503) await sleep(Math.min(reply.retryAfterMs ?? 1000, 1000));
  }
}

/** Counts answers between the end of the ramp and the end of the load. */
class Tally {
  answered = 0;
  readonly #ramp: number;
  #seen = 0;
  #startedMs = 0;
  #endedMs = Number.NaN;
  #inputTokens = 0;
  #refused = 0;
  #errors = 0;
  readonly #latenciesMs: number[] = [];

  constructor(ramp: number) {
    this.#ramp = ramp;
  }

  end(): void {
    if (Number.isNaN(this.#endedMs)) this.#endedMs = performance.now();
  }

  add(reply: BenchReply | undefined): void {
    this.#seen++;
    if (this.#seen <= this.#ramp) {
      this.#startedMs = performance.now();
      return;
    }
    if (!Number.isNaN(this.#endedMs)) return;
    if (reply?.status === 503) this.#refused++;
    else if (reply?.status !== 200) this.#errors++;
    else {
      this.answered++;
      this.#latenciesMs.push(reply.latencyMs);
      this.#inputTokens += readInputTokens(reply.text);
    }
  }

  summarise({ mix, concurrency }: LoadOptions): LoadResult {
    const elapsedMs = this.#endedMs - this.#startedMs;
    return {
      mix: mix.name,
      concurrency,
      elapsedMs,
      requestsPerSecond: (this.answered / elapsedMs) * 1000,
      tokensPerSecond: (this.#inputTokens / elapsedMs) * 1000,
      latency: summariseLatencies(this.#latenciesMs),
      refused: this.#refused,
      errors: this.#errors,
    };
  }
}

/** `usage.input_tokens` of a decision, `usage.prompt_tokens` of an embedding; a text search, to spare the client's core. */
function readInputTokens(text: string): number {
  const match = /"(?:input_tokens|prompt_tokens)":(\d+)/.exec(text);
  return match === null ? 0 : Number(match[1]);
}

export interface PacedOptions {
  readonly client: BenchClient;
  readonly mix: Mix;
  readonly requestsPerSecond: number;
  readonly maxInFlight: number;
  /** Aborted to end the load. */
  readonly signal: AbortSignal;
}

/** Sends at a fixed rate, whatever the answers take. @returns requests answered with 200 */
export async function runPaced({ client, mix, requestsPerSecond, maxInFlight, signal }: PacedOptions): Promise<number> {
  const startedMs = performance.now();
  const inFlight = new Set<Promise<void>>();
  let answered = 0;
  const send = async (): Promise<void> => {
    const reply = await client.post(mix.path, mix.makeBody());
    if (reply.status === 200) answered++;
  };
  for (let sent = 0; !signal.aborted; sent++) {
    const dueInMs = startedMs + (sent / requestsPerSecond) * 1000 - performance.now();
    if (dueInMs > 0) await sleep(dueInMs);
    if (inFlight.size >= maxInFlight) await Promise.race(inFlight);
    const request: Promise<void> = send().finally(() => inFlight.delete(request));
    inFlight.add(request);
  }
  await Promise.all(inFlight);
  return answered;
}
