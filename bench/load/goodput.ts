// What became of the requests of an open loop, counted. Times run from the moment a request was planned to be sent, so that
// a client which fell behind does not hide what its users waited. Pure.

import { percentile, summariseLatencies } from './statistics.ts';

/** Answers later than this are of no use to a caller who waits. */
export const GOODPUT_LIMIT_MS = 200;

export type Ending =
  | { readonly kind: 'answered' }
  /** 503 or 429. */
  | { readonly kind: 'refused'; readonly retryAfterMs: number | undefined }
  /** `given-up`: the client's patience ended first. `failed`: any other status, and broken connections. */
  | { readonly kind: 'given-up' | 'failed' };

export interface Outcome {
  /** Class of length, for loads of several. */
  readonly group: string;
  /** All three in milliseconds of one clock. */
  readonly plannedMs: number;
  readonly sentMs: number;
  readonly endedMs: number;
  readonly ending: Ending;
}

/** @param durationMs of all the plans that the outcomes come from, together */
export function summariseOutcomes(outcomes: readonly Outcome[], durationMs: number) {
  const of = (kind: Ending['kind']): Outcome[] => outcomes.filter(({ ending }) => ending.kind === kind);
  const [answered, refused] = [of('answered'), of('refused')];
  const good = answered.filter((outcome) => waitedMs(outcome) <= GOODPUT_LIMIT_MS).length;
  const groups = [...new Set(outcomes.map(({ group }) => group))].sort();
  const latencyOf = (some: readonly Outcome[]) => summariseLatencies(some.map(waitedMs));
  const lagsMs = outcomes.map(({ plannedMs, sentMs }) => sentMs - plannedMs);
  return {
    offeredPerSecond: (outcomes.length / durationMs) * 1000,
    offered: outcomes.length,
    answered: answered.length,
    goodPerSecond: (good / durationMs) * 1000,
    /** Of what was offered. */
    goodShare: good / outcomes.length,
    refusedShare: refused.length / outcomes.length,
    refusedWithRetryAfter: listWaits(refused).length,
    givenUp: of('given-up').length,
    failed: of('failed').length,
    latency: latencyOf(answered),
    latencyByGroup: Object.fromEntries(
      groups.map((group) => [group, latencyOf(answered.filter((outcome) => outcome.group === group))]),
    ),
    /** From the moment the refused request was really sent: what the server took to say no. */
    refusal: summariseLatencies(refused.map(({ sentMs, endedMs }) => endedMs - sentMs)),
    refusalFromPlan: latencyOf(refused),
    /** How late the client itself was. */
    clientLagP99Ms: percentile(lagsMs, 0.99),
    clientLagMaxMs: percentile(lagsMs, 1),
  };
}

/** Milliseconds after which refused clients were told to come back, of those who were. */
export function listWaits(outcomes: readonly Outcome[]): number[] {
  return outcomes.flatMap(({ ending }) => ('retryAfterMs' in ending ? (ending.retryAfterMs ?? []) : []));
}

function waitedMs({ plannedMs, endedMs }: Outcome): number {
  return endedMs - plannedMs;
}
