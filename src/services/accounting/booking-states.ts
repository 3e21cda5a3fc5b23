// The states of a booking, and what leads from one to the next. Pure; what is done on the way, ledger-booking.ts does.

/** What can happen to a booking. The store that is away is `waived` where the configuration serves all the same. */
export type Happening =
  | 'let in'
  | 'turned away'
  | 'answered before'
  | 'store away'
  | 'store waived'
  | 'work done'
  | 'work failed'
  | 'row written'
  | 'reservation gone'
  | 'store silent';

/**
 * Two things happen beside each other: the store says whether the request is let in, and the work comes to its end. Where
 * work began early, either may be first.
 *
 * | state      | what happens       | next       | what is done |
 * |------------|--------------------|------------|--------------|
 * | `asked`    | `let in`           | `reserved` | work may begin |
 * |            | `turned away`      | `refused`  | the caller hears why; nothing is in the books |
 * |            | `answered before`  | `replayed` | the caller is given the reply that is kept |
 * |            | `store away`       | `doubtful` | the caller hears so; whether there is a reservation, nobody knows |
 * |            | `store waived`     | `waived`   | work may begin |
 * |            | `work done`        | `ahead`    | the row is told: it is committed with the reservation, or not at all |
 * |            | `work failed`      | `failed`   | a row at the cost of what was used, or none and the reservation released |
 * | `reserved` | `work done`        | `settling` | the row is told |
 * |            | `work failed`      | `failed`   | the same as above |
 * | `doubtful` | `work done`        | `settling` | the row is told: it is taken if the reservation was |
 * |            | `work failed`      | `dropped`  | nothing: the store gives back what it may have reserved |
 * | `waived`   | `work done`        | `unbilled` | answered and counted |
 * |            | `work failed`      | `dropped`  | nothing |
 * | `ahead`    | `let in`           | `settling` | the store's word of the row is waited for |
 * |            | `turned away`      | `refused`  | the caller hears why; the row that was told has no reservation to settle |
 * |            | `store away`       | `settling` | the row is told again: it is taken if the reservation was |
 * |            | `store waived`     | `unbilled` | answered and counted |
 * | `settling` | `row written`      | `settled`  | answered |
 * |            | `reservation gone` | `lost`     | refused, or answered and counted where the configuration serves |
 * |            | `store silent`     | `owed`     | the row, or one at cost 0 that overrules it, is told until the store takes it |
 * | `refused`  | `work done`, `work failed` | `refused` | dropped: neither answered nor billed |
 * | `failed`   | whatever the store says    | `failed`  | nothing: how it ended was told after it was asked |
 */
const NEXT = {
  asked: {
    'let in': 'reserved',
    'turned away': 'refused',
    'answered before': 'replayed',
    'store away': 'doubtful',
    'store waived': 'waived',
    'work done': 'ahead',
    'work failed': 'failed',
  },
  reserved: { 'work done': 'settling', 'work failed': 'failed' },
  doubtful: { 'work done': 'settling', 'work failed': 'dropped' },
  waived: { 'work done': 'unbilled', 'work failed': 'dropped' },
  ahead: { 'let in': 'settling', 'turned away': 'refused', 'store away': 'settling', 'store waived': 'unbilled' },
  settling: { 'row written': 'settled', 'reservation gone': 'lost', 'store silent': 'owed' },
  refused: { 'work done': 'refused', 'work failed': 'refused' },
  failed: { 'let in': 'failed', 'turned away': 'failed', 'store away': 'failed', 'store waived': 'failed' },
  replayed: {},
  dropped: {},
  unbilled: {},
  settled: {},
  lost: {},
  owed: {},
} as const satisfies Record<string, Partial<Record<Happening, string>>>;

export type BookingState = keyof typeof NEXT;

/** @throws Error where this cannot happen: a request that is closed twice, which is a fault of ours */
export function nextState(state: BookingState, happening: Happening): BookingState {
  const next = (NEXT[state] as Partial<Record<Happening, BookingState>>)[happening];
  if (next === undefined) throw new Error(`A booking that is ${state} has no "${happening}".`);
  return next;
}
