// What was done to a store as a whole, or found in it: told by the storage, printed by `umpire db`.

export interface StoreBackup {
  readonly file: string;
  readonly bytes: number;
  readonly schemaVersion: number;
}

export interface RestoredStore {
  readonly file: string;
  readonly schemaVersion: number;
  /** Where the store that was there before is kept; null where there was none. */
  readonly keptAside: string | null;
}

export interface CheckedStore {
  /** Path, or address without a password. */
  readonly name: string;
  /** undefined: it is too damaged to be read. */
  readonly schemaVersion: number | undefined;
  readonly newestSchemaVersion: number;
  /** What is wrong with the file itself; empty when it is sound. */
  readonly damage: readonly string[];
  /** undefined: not looked at, for damage or because the schema is an older one. */
  readonly books: CheckedBooks | undefined;
}

export interface CheckedBooks {
  /** What does not agree, in words; empty when all does. */
  readonly faults: readonly string[];
  readonly keys: number;
  readonly ledgerRows: number;
  /** Requests that were accepted and have not ended, or whose process died. */
  readonly openReservations: number;
  /** Of all rows and roll-ups. */
  readonly costPicoUsd: bigint;
}

export interface CopiedStore {
  readonly tables: readonly CopiedTable[];
  /** Of all rows and roll-ups; the same on both sides. */
  readonly costPicoUsd: bigint;
}

export interface CopiedTable {
  readonly table: string;
  readonly rows: number;
}
