// What the outcomes of a load test amount to. Pure.

import { findPicoUsd } from '../../domain/money.ts';
import { sum } from '../../domain/sum.ts';
import type { LoadOutcome } from './load-run.ts';

export interface LatencyFigures {
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly meanMs: number;
}

/** A part of the time. */
export interface LoadSlice {
  readonly answersPerSecond: number;
  /** NaN: nothing was answered. */
  readonly p95Ms: number;
}

export interface LoadFigures {
  readonly seconds: number;
  /** Due after the warm-up; answers and latencies are of these. */
  readonly requests: number;
  readonly answered: number;
  /** Of the answered ones, from what the server had kept. */
  readonly cached: number;
  /** Of what ended in the time that counts. */
  readonly answersPerSecond: number;
  readonly inputTokensPerSecond: number;
  readonly outputTokensPerSecond: number;
  readonly costPicoUsd: bigint;
  /** Of answered requests, ascending. */
  readonly latenciesMs: readonly number[];
  /** undefined: nothing was answered. */
  readonly latency: LatencyFigures | undefined;
  /** Requests that were not answered, by code, most frequent first. */
  readonly refusals: readonly { readonly code: string; readonly requests: number }[];
  /** How late the load test itself sent; of an open loop. */
  readonly lateP99Ms: number;
  readonly slices: readonly LoadSlice[];
}

const SLICES = 40;

export interface MeasuredTime {
  /** Requests that were due before do not count. */
  readonly warmUpMs: number;
  /** After which nothing was sent. */
  readonly endMs: number;
}

export function measureLoad(outcomes: readonly LoadOutcome[], { warmUpMs, endMs }: MeasuredTime): LoadFigures {
  const counted = outcomes.filter(({ dueMs }) => dueMs >= warmUpMs);
  const answered = counted.filter(({ status }) => status === 200);
  const latenciesMs = answered.map(latencyOf).sort((a, b) => a - b);
  // Whenever they were sent: what a server does in a time is what it ends in it.
  const ended = outcomes.filter((outcome) => {
    return outcome.status === 200 && outcome.endMs > warmUpMs && outcome.endMs <= endMs;
  });
  const seconds = (endMs - warmUpMs) / 1000;
  return {
    seconds,
    requests: counted.length,
    answered: answered.length,
    cached: answered.filter(({ isCached }) => isCached).length,
    answersPerSecond: ended.length / seconds,
    inputTokensPerSecond: sum(ended.map(({ inputTokens }) => inputTokens)) / seconds,
    outputTokensPerSecond: sum(ended.map(({ outputTokens }) => outputTokens)) / seconds,
    costPicoUsd: answered.reduce((total, { costUsd }) => total + (findPicoUsd(costUsd) ?? 0n), 0n),
    latenciesMs,
    latency: latenciesMs.length === 0 ? undefined : latencyFigures(latenciesMs),
    refusals: countRefusals(counted),
    lateP99Ms: nearestRank(
      counted.map(({ dueMs, sentMs }) => sentMs - dueMs).sort((a, b) => a - b),
      0.99,
    ),
    slices: sliceUp(ended, { warmUpMs, endMs }),
  };
}

function latencyOf({ dueMs, endMs }: LoadOutcome): number {
  return endMs - dueMs;
}

function latencyFigures(sortedMs: readonly number[]): LatencyFigures {
  return {
    p50Ms: nearestRank(sortedMs, 0.5),
    p95Ms: nearestRank(sortedMs, 0.95),
    p99Ms: nearestRank(sortedMs, 0.99),
    maxMs: nearestRank(sortedMs, 1),
    meanMs: sum(sortedMs) / sortedMs.length,
  };
}

/** The smallest that at least `fraction` of all do not exceed. NaN of none. @param sorted ascending */
function nearestRank(sorted: readonly number[], fraction: number): number {
  return sorted[Math.max(1, Math.ceil(fraction * sorted.length)) - 1] ?? Number.NaN;
}

function countRefusals(outcomes: readonly LoadOutcome[]): LoadFigures['refusals'] {
  const counts = new Map<string, number>();
  for (const { status, code } of outcomes) if (status !== 200) counts.set(code, (counts.get(code) ?? 0) + 1);
  return [...counts].map(([code, requests]) => ({ code, requests })).sort((a, b) => b.requests - a.requests);
}

/** By the time of the answer. */
function sliceUp(ended: readonly LoadOutcome[], { warmUpMs, endMs }: MeasuredTime): LoadSlice[] {
  const sliceMs = (endMs - warmUpMs) / SLICES;
  const slices = Array.from({ length: SLICES }, (): number[] => []);
  for (const outcome of ended) {
    slices[Math.min(SLICES - 1, Math.floor((outcome.endMs - warmUpMs) / sliceMs))]?.push(latencyOf(outcome));
  }
  return slices.map((latenciesMs) => ({
    answersPerSecond: (latenciesMs.length / sliceMs) * 1000,
    p95Ms: nearestRank(
      latenciesMs.sort((a, b) => a - b),
      0.95,
    ),
  }));
}
