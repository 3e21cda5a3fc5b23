// What the server adds to the graphs it runs: latency of one decision and throughput of many, against bare loops that run the
// same graphs on the same inputs without a server. Both sides take turns, so that a busy machine disturbs both alike.

import type { BenchClient, BenchReply } from '../load/client.ts';
import { runClosedLoop, runPaced } from '../load/load.ts';
import { type LatencySummary, median, sum, summariseLatencies } from '../load/statistics.ts';
import { type DecisionSize, type Mix, makeDecision } from '../load/workload.ts';
import type { BareLoops } from '../servers/bare-loop.ts';

export interface LatencyOverhead {
  readonly http: LatencySummary;
  readonly bareLoop: LatencySummary;
  /** p50 over HTTP minus p50 of the bare loop. */
  readonly p50OverheadMs: number;
  /** Medians of what the server says of its own time; what is missing to the time over HTTP is HTTP, threads and client. */
  readonly serverP50Ms: { readonly queue: number; readonly tokenize: number; readonly infer: number };
}

export interface LatencyOptions {
  readonly client: BenchClient;
  readonly loops: BareLoops;
  readonly size: DecisionSize;
  readonly rounds: number;
  readonly samplesPerRound: number;
}

/** One client, one loop, never at the same time. */
export async function measureLatencyOverhead(options: LatencyOptions): Promise<LatencyOverhead> {
  const { client, loops, size, rounds, samplesPerRound } = options;
  const replies: BenchReply[] = [];
  const bareMs: number[] = [];
  for (let round = 0; round < rounds; round++) {
    replies.push(...(await sendDecisions(client, size, samplesPerRound)));
    bareMs.push(...(await loops.runAlone(samplesPerRound)));
  }
  const http = summariseLatencies(replies.map(({ latencyMs }) => latencyMs));
  const bareLoop = summariseLatencies(bareMs);
  const partP50Ms = (part: string): number => median(replies.map((reply) => readTiming(reply, part)));
  const serverP50Ms = { queue: partP50Ms('queue'), tokenize: partP50Ms('tokenize'), infer: partP50Ms('infer') };
  return { http, bareLoop, p50OverheadMs: http.p50Ms - bareLoop.p50Ms, serverP50Ms };
}

/** `queue;dur=0.012, tokenize;dur=0.408` */
export function readTiming({ serverTiming }: BenchReply, part: string): number {
  return Number(new RegExp(`\\b${part};dur=([\\d.]+)`).exec(serverTiming)?.[1]);
}

/** @returns latencies in milliseconds @throws if one is not answered with 200 */
export async function timeDecisions(client: BenchClient, size: DecisionSize, count: number): Promise<number[]> {
  return (await sendDecisions(client, size, count)).map(({ latencyMs }) => latencyMs);
}

/** One after the other. */
async function sendDecisions(client: BenchClient, size: DecisionSize, count: number): Promise<BenchReply[]> {
  const replies: BenchReply[] = [];
  for (let index = 0; index < count; index++) {
    const reply = await client.post('/ai/v1/systemone', JSON.stringify(makeDecision(size)));
    if (reply.status !== 200) throw new Error(`A decision was answered with ${reply.status}: ${reply.text}`);
    replies.push(reply);
  }
  return replies;
}

export interface ThroughputRatio {
  readonly concurrency: number;
  readonly workers: number;
  /** Decisions per second; the median of the rounds. */
  readonly httpPerSecond: number;
  /** Bare loops on all workers, beside the same client at the rate of `httpPerSecond` against an endpoint that does nothing. */
  readonly bareBesideClientPerSecond: number;
  /** Bare loops on all workers and nothing else. */
  readonly bareAlonePerSecond: number;
  /** `httpPerSecond` ÷ `bareBesideClientPerSecond`, the median of the rounds. */
  readonly ratio: number;
  /** The same against `bareAlonePerSecond`. */
  readonly ratioToBareAlone: number;
  readonly refused: number;
  readonly errors: number;
}

export interface ThroughputOptions {
  readonly client: BenchClient;
  readonly nullClient: BenchClient;
  readonly loops: BareLoops;
  readonly mix: Mix;
  readonly concurrency: number;
  readonly rounds: number;
  readonly durationMs: number;
}

export async function measureThroughputRatio(options: ThroughputOptions): Promise<ThroughputRatio> {
  const { client, loops, mix, concurrency, rounds, durationMs } = options;
  const measured = [];
  for (let round = 0; round < rounds; round++) {
    const limits = { durationMs, minSamples: 10 * concurrency, maxDurationMs: 10 * durationMs };
    const http = await runClosedLoop({ client, mix, concurrency, ...limits });
    if (http.latency.samples === 0) throw new Error('The server answered no request of the throughput measurement.');
    const bareBeside = await runBesideClient(options, http.requestsPerSecond);
    measured.push({ http, bareBeside, bareAlone: await loops.runAll(durationMs) });
  }
  const https = measured.map(({ http }) => http);
  return {
    concurrency,
    workers: loops.workers,
    httpPerSecond: median(https.map((http) => http.requestsPerSecond)),
    bareBesideClientPerSecond: median(measured.map(({ bareBeside }) => bareBeside)),
    bareAlonePerSecond: median(measured.map(({ bareAlone }) => bareAlone)),
    ratio: median(measured.map(({ http, bareBeside }) => http.requestsPerSecond / bareBeside)),
    ratioToBareAlone: median(measured.map(({ http, bareAlone }) => http.requestsPerSecond / bareAlone)),
    refused: sum(https.map((http) => http.refused)),
    errors: sum(https.map((http) => http.errors)),
  };
}

/** @returns runs per second of the bare loops while the client does the work it did against the server */
async function runBesideClient(options: ThroughputOptions, requestsPerSecond: number): Promise<number> {
  const { nullClient, loops, mix, concurrency, durationMs } = options;
  const end = new AbortController();
  const load = { client: nullClient, mix, requestsPerSecond, maxInFlight: concurrency, signal: end.signal };
  const client = runPaced(load);
  try {
    return await loops.runAll(durationMs);
  } finally {
    end.abort();
    await client;
  }
}
