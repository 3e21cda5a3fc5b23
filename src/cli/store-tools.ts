// What `umpire db …` may ask of the program: the store as one thing, whatever is in it.

import type { SettingFlags } from './setting-flags.ts';

export interface StoreBackup {
  readonly file: string;
  readonly bytes: number;
  readonly schemaVersion: number;
}

export interface RestoredStore {
  readonly file: string;
  readonly schemaVersion: number;
  /** Where the store that was there before is; null where there was none. */
  readonly keptAside: string | null;
}

export interface StoreCheck {
  /** Path, or address without a password. */
  readonly name: string;
  /** undefined: the file is too damaged to be read. */
  readonly schemaVersion: number | undefined;
  readonly newestSchemaVersion: number;
  /** What is wrong with the file; empty when it is sound. */
  readonly damage: readonly string[];
  /** undefined: not looked at, for damage or because the schema is an older one. */
  readonly books:
    | {
        /** What does not agree; empty when all does. */
        readonly faults: readonly string[];
        readonly keys: number;
        readonly ledgerRows: number;
        readonly openReservations: number;
        readonly costPicoUsd: bigint;
      }
    | undefined;
}

export interface StoreCopy {
  readonly tables: readonly { readonly table: string; readonly rows: number }[];
  readonly costPicoUsd: bigint;
}

export type CopyTarget =
  | { readonly type: 'sqlite'; readonly dataDir: string }
  | { readonly type: 'postgres'; readonly url: string };

/** Of the configured store. What fails is told in the words of whatever failed. */
export interface StoreTools {
  /** From `UMPIRE_TARGET_DATABASE_URL`. */
  readonly targetDatabaseUrl: string | undefined;
  backup(flags: SettingFlags, file: string, options: { readonly overwrite: boolean }): Promise<StoreBackup>;
  restore(flags: SettingFlags, file: string): Promise<RestoredStore>;
  check(flags: SettingFlags): Promise<StoreCheck>;
  copy(flags: SettingFlags, target: CopyTarget): Promise<StoreCopy>;
}
