// What is done to the ledger in groups: operations that wait together are applied together.

import type { LedgerStore, Reservation, ReserveOutcome, Settlement, SettleOutcome } from './stores.ts';

export type LedgerOperation =
  | { readonly type: 'reserve'; readonly reservation: Reservation }
  | { readonly type: 'settle'; readonly settlement: Settlement }
  | { readonly type: 'release'; readonly id: string };

/** Of a release: undefined. */
export type OperationOutcome = ReserveOutcome | SettleOutcome | undefined;

/** A ledger that takes many operations at once. */
export interface GroupableLedger extends Omit<LedgerStore, 'reserve' | 'settle' | 'release'> {
  /**
   * All in one transaction, each seeing those before it. Fails as a whole.
   * @returns an outcome for each, in their order
   */
  apply(operations: readonly LedgerOperation[]): Promise<readonly OperationOutcome[]>;
}
