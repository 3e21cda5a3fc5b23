// Which closed loops are worth their time: what a request took of a server with fewer clients, and which slices would therefore
// take too long. Pure.

/** What one request takes of a server that has enough to do: time over answers. */
export interface RequestCost {
  readonly peer: string;
  readonly requestMs: number;
}

export interface CellPlan {
  readonly load: string;
  readonly concurrency: number;
  readonly durationMs: number;
  readonly maxSliceMs: number;
}

/** A cell that was not measured, because one slice of it would have taken `sliceMs`. */
export interface LeftOut extends RequestCost, Pick<CellPlan, 'load' | 'concurrency'> {
  readonly sliceMs: number;
}

export interface SlicePlan extends Pick<CellPlan, 'concurrency' | 'durationMs'> {
  readonly requestMs: number;
}

/** An answer for each client before what counts, at least one for each that counts, and those still in flight at its end. */
export function expectSliceMs({ requestMs, concurrency, durationMs }: SlicePlan): number {
  return (2 * concurrency - 1) * requestMs + Math.max(durationMs, concurrency * requestMs);
}

/** @returns of those whose costs are known the ones for which a slice would take too long */
export function listLeftOut(costs: readonly RequestCost[], plan: CellPlan): LeftOut[] {
  const { load, concurrency, durationMs, maxSliceMs } = plan;
  return costs
    .map(({ peer, requestMs }) => {
      return { peer, load, concurrency, requestMs, sliceMs: expectSliceMs({ requestMs, concurrency, durationMs }) };
    })
    .filter(({ sliceMs }) => sliceMs > maxSliceMs);
}
