// What `umpire db …` may ask of the program: the store as one thing, whatever is in it.

import type { CheckedStore, CopiedStore, RestoredStore, StoreBackup } from '../domain/store-report.ts';
import type { SettingFlags } from './setting-flags.ts';

export type CopyTarget =
  | { readonly type: 'sqlite'; readonly dataDir: string }
  | { readonly type: 'postgres'; readonly url: string };

/** Of the configured store. What fails is told in the words of whatever failed. */
export interface StoreTools {
  /** From `UMPIRE_TARGET_DATABASE_URL`. */
  readonly targetDatabaseUrl: string | undefined;
  backup(flags: SettingFlags, file: string, options: { readonly overwrite: boolean }): Promise<StoreBackup>;
  restore(flags: SettingFlags, file: string): Promise<RestoredStore>;
  check(flags: SettingFlags): Promise<CheckedStore>;
  copy(flags: SettingFlags, target: CopyTarget): Promise<CopiedStore>;
}
