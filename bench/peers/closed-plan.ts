// Which closed loops are worth their time: what a request takes of a server, and which slices would therefore take too long. Pure.

import type { ClosedSlice } from './closed-loop.ts';

/** What one request takes of a server that has enough to do: time over answers, at several at a time. */
export interface RequestCost {
  readonly peer: string;
  readonly load: string;
  readonly requestMs: number;
}

/** A cell that was not measured, because one slice of it would have taken `sliceMs`. */
export interface LeftOut extends RequestCost {
  readonly concurrency: number;
  readonly sliceMs: number;
}

export interface SlicePlan {
  readonly requestMs: number;
  readonly concurrency: number;
  readonly durationMs: number;
}

/** @returns NaN, which is dearer than nothing, when no request was answered */
export function requestMsOf({ elapsedMs, latenciesMs }: Pick<ClosedSlice, 'elapsedMs' | 'latenciesMs'>): number {
  return elapsedMs / latenciesMs.length;
}

/** An answer for each client before what counts, at least one for each that counts, and those still in flight at its end. */
export function expectSliceMs({ requestMs, concurrency, durationMs }: SlicePlan): number {
  const allMs = concurrency * requestMs;
  return allMs + Math.max(durationMs, allMs) + allMs - requestMs;
}

export interface CellPlan {
  readonly load: string;
  readonly concurrency: number;
  /** The fewest clients that this class is measured with: a server that is slow with them still has a figure. */
  readonly leastConcurrency: number;
  readonly durationMs: number;
  readonly maxSliceMs: number;
}

/** @returns of each of `peers` for which a slice would take too long; those of unknown cost are measured */
export function listLeftOut(costs: readonly RequestCost[], peers: readonly string[], plan: CellPlan): LeftOut[] {
  const { load, concurrency, leastConcurrency, durationMs, maxSliceMs } = plan;
  if (concurrency === leastConcurrency) return [];
  return costs
    .filter((cost) => cost.load === load && peers.includes(cost.peer))
    .map((cost) => ({
      ...cost,
      concurrency,
      sliceMs: expectSliceMs({ requestMs: cost.requestMs, concurrency, durationMs }),
    }))
    .filter(({ sliceMs }) => sliceMs > maxSliceMs);
}
