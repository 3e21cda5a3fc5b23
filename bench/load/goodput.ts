// What became of the requests of an open loop, counted. Times run from the moment a request was planned to be sent, so that
// a client which fell behind does not hide what its users waited. Pure.

import { type LatencySummary, percentile, summariseLatencies } from './statistics.ts';

/** Answers later than this are of no use to a caller who waits. */
export const GOODPUT_LIMIT_MS = 200;

export type Ending =
  | { readonly kind: 'answered' }
  /** 503 or 429. */
  | { readonly kind: 'refused'; readonly retryAfterMs: number | undefined }
  /** The client's patience ended first. */
  | { readonly kind: 'given-up' }
  /** Any other status, and broken connections. */
  | { readonly kind: 'failed' };

export interface Outcome {
  /** Class of length, for loads of several. */
  readonly group: string;
  /** All three in milliseconds of one clock. */
  readonly plannedMs: number;
  readonly sentMs: number;
  readonly endedMs: number;
  readonly ending: Ending;
}

export interface OpenLoopFigures {
  /** Planned requests over planned time. */
  readonly offeredPerSecond: number;
  readonly offered: number;
  readonly answered: number;
  readonly goodPerSecond: number;
  /** Of what was offered. */
  readonly goodShare: number;
  readonly refusedShare: number;
  readonly refusedWithRetryAfter: number;
  readonly givenUp: number;
  readonly failed: number;
  /** Of answers. */
  readonly latency: LatencySummary;
  readonly latencyByGroup: Readonly<Record<string, LatencySummary>>;
  /** From the moment the refused request was really sent: what the server took to say no. */
  readonly refusal: LatencySummary;
  /** From the planned moment. */
  readonly refusalFromPlan: LatencySummary;
  /** How late the client itself was. */
  readonly clientLagP99Ms: number;
  readonly clientLagMaxMs: number;
}

/** @param durationMs of all the plans that the outcomes come from, together */
export function summariseOutcomes(outcomes: readonly Outcome[], durationMs: number): OpenLoopFigures {
  const of = (kind: Ending['kind']): Outcome[] => outcomes.filter(({ ending }) => ending.kind === kind);
  const [answered, refused] = [of('answered'), of('refused')];
  const good = answered.filter((outcome) => waitedMs(outcome) <= GOODPUT_LIMIT_MS).length;
  const groups = [...new Set(outcomes.map(({ group }) => group))].sort();
  const latencyOf = (some: readonly Outcome[]): LatencySummary => summariseLatencies(some.map(waitedMs));
  const lagsMs = outcomes.map(({ plannedMs, sentMs }) => sentMs - plannedMs);
  return {
    offeredPerSecond: (outcomes.length / durationMs) * 1000,
    offered: outcomes.length,
    answered: answered.length,
    goodPerSecond: (good / durationMs) * 1000,
    goodShare: good / outcomes.length,
    refusedShare: refused.length / outcomes.length,
    refusedWithRetryAfter: refused.filter(({ ending }) => 'retryAfterMs' in ending && ending.retryAfterMs !== undefined)
      .length,
    givenUp: of('given-up').length,
    failed: of('failed').length,
    latency: latencyOf(answered),
    latencyByGroup: Object.fromEntries(
      groups.map((group) => [group, latencyOf(answered.filter((outcome) => outcome.group === group))]),
    ),
    refusal: summariseLatencies(refused.map(({ sentMs, endedMs }) => endedMs - sentMs)),
    refusalFromPlan: latencyOf(refused),
    clientLagP99Ms: percentile(lagsMs, 0.99),
    clientLagMaxMs: percentile(lagsMs, 1),
  };
}

function waitedMs({ plannedMs, endedMs }: Outcome): number {
  return endedMs - plannedMs;
}
