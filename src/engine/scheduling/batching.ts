// Door of scheduling, for parts of several tickets that share runs: how much of one a part is, and when a batch begins: at once
// where the device is idle, and else when it is full, or when its oldest part has waited long enough and there is room on the
// device. Pure: time is handed in.

import type { TimedBatch } from '../../runtime/load-report.ts';
import { BatchTime } from '../cost/batch-time.ts';

export interface BatchLimits {
  /** Of one batch. */
  readonly tokens: number;
  /** What the oldest part of a batch waits for others while the device has work. */
  readonly waitMs: number;
  /** Batches that the device has at once: one runs, and the next is there when it ends. */
  readonly inFlight: number;
}

/** What the parts of one model have in common that share runs. */
export class BatchedModel {
  readonly modelId: string;
  readonly time = new BatchTime();
  readonly limits: BatchLimits;

  constructor(modelId: string, limits: BatchLimits) {
    this.modelId = modelId;
    this.limits = limits;
  }
}

/** @param batches what workers saw shared runs take; undefined: its runs are not shared @param limits undefined: none are */
export function openBatches(
  modelId: string,
  batches: readonly TimedBatch[] | undefined,
  limits: BatchLimits | undefined,
): BatchedModel | undefined {
  if (batches === undefined || limits === undefined) return undefined;
  const model = new BatchedModel(modelId, limits);
  for (const { tokens, wallMs } of batches) model.time.observe(tokens, wallMs);
  return model;
}

/** Estimated worker time of a part that shares runs, where they are full; and from its begin to its answer. */
export function estimateShare({ model, tokens }: BatchShare): { costMs: number; durationMs: number } {
  const { limits, time } = model;
  return { costMs: time.shareMs(tokens, limits.tokens), durationMs: time.batchMs(Math.max(tokens, limits.tokens)) };
}

/** How much of a shared run a part is. */
export interface BatchShare {
  readonly model: BatchedModel;
  /** Estimated, specials included. */
  readonly tokens: number;
}

export interface WaitingParts {
  readonly tokens: number;
  /** Since the oldest of their tickets came. */
  readonly waitedMs: number;
}

/** @param running batches of all models @returns 0: now; how long until then; Infinity: when a batch ends */
export function untilBatchMs(waiting: WaitingParts, running: number, limits: BatchLimits): number {
  if (running === 0) return 0;
  // One more than the device has is prepared, if it is full: the longer the row before it, the longer who comes next waits.
  if (waiting.tokens >= limits.tokens && running <= limits.inFlight) return 0;
  return running < limits.inFlight ? Math.max(0, limits.waitMs - waiting.waitedMs) : Infinity;
}
