// SQLite stores for suites of many cases. Starting a thread takes longer than most cases run: threads are kept, and the
// tables emptied in between. What a case closes is opened anew for the next.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openSqliteStores } from '../../src/storage/sqlite/open-sqlite-stores.ts';
import type { Stores } from '../../src/storage/stores.ts';
import type { OpenedStores } from './ledger-fixture.ts';

interface Kept {
  readonly stores: Stores;
  isClosed: boolean;
}

export class ReusedSqliteStores {
  readonly #dataDir = mkdtempSync(join(tmpdir(), 'umpire-stores-'));
  readonly #kept: Kept[] = [];

  async open(): Promise<OpenedStores> {
    let used = 0;
    const take = async (): Promise<Stores> => {
      const place = used++;
      let kept = this.#kept[place];
      if (kept === undefined || kept.isClosed) {
        kept = { stores: await openSqliteStores({ dataDir: this.#dataDir, exclusive: false }), isClosed: false };
        this.#kept[place] = kept;
      }
      return closingBy(kept);
    };
    return { stores: await take(), openAgain: take, remove: async () => this.#empty() };
  }

  async remove(): Promise<void> {
    for (const { stores, isClosed } of this.#kept) if (!isClosed) await stores.close();
    rmSync(this.#dataDir, { recursive: true });
  }

  #empty(): void {
    using database = new DatabaseSync(join(this.#dataDir, 'umpire.sqlite'), { timeout: 5000 });
    const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'");
    for (const { name } of tables.all()) if (name !== 'schema_migrations') database.exec(`DELETE FROM ${name}`);
  }
}

function closingBy(kept: Kept): Stores {
  const close = async (): Promise<void> => {
    kept.isClosed = true;
    await kept.stores.close();
  };
  return { ...kept.stores, close };
}
