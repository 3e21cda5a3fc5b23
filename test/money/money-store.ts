// The database under a server whose money is checked, seen past the server: settings that make a server use it, and SQL
// on connections of its own, also on what a killed server left behind.

import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { PostgresServer } from '../postgres/postgres-server.ts';
import type { Environment } from '../process/server-process.ts';
import { until } from '../waiting/until.ts';

/** Integers are bigint or text, as the database gives them. */
export type Row = Readonly<Record<string, unknown>>;

export interface MoneyStore {
  readonly name: 'SQLite' | 'PostgreSQL';
  /** For each server that shares it. */
  readonly settings: Environment;
  /** Beside running servers. */
  query(sql: string): Promise<readonly Row[]>;
  /** When every server was killed: without repairing what they left, and after what they had still sent. */
  queryRemains(sql: string): Promise<readonly Row[]>;
  dispose(): Promise<void>;
}

const FILE = 'umpire.sqlite';
const BUSY_TIMEOUT_MS = 10_000;

export class SqliteMoneyStore implements MoneyStore {
  readonly name = 'SQLite';
  readonly dataDir = mkdtempSync(join(tmpdir(), 'umpire-money-'));
  readonly settings = { UMPIRE_DATA_DIR: this.dataDir };

  async query(sql: string): Promise<readonly Row[]> {
    return querySqlite(join(this.dataDir, FILE), sql);
  }

  /** Whoever opens the file itself finishes what its dead writer had begun. */
  async queryRemains(sql: string): Promise<readonly Row[]> {
    return queryCopy(this.dataDir, sql);
  }

  async dispose(): Promise<void> {
    rmSync(this.dataDir, { recursive: true });
  }
}

/** Of a copy of the store in that folder, which nobody writes at the moment. */
export function queryCopy(dataDir: string, sql: string): readonly Row[] {
  const folder = mkdtempSync(join(tmpdir(), 'umpire-remains-'));
  try {
    for (const name of [FILE, `${FILE}-wal`]) {
      if (existsSync(join(dataDir, name))) copyFileSync(join(dataDir, name), join(folder, name));
    }
    return querySqlite(join(folder, FILE), sql);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function querySqlite(file: string, sql: string): readonly Row[] {
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  try {
    const statement = database.prepare(sql);
    statement.setReadBigInts(true);
    return statement.all();
  } finally {
    database.close();
  }
}

export class PostgresMoneyStore implements MoneyStore {
  readonly name = 'PostgreSQL';
  readonly settings: { readonly UMPIRE_DATABASE_URL: string };
  readonly #server: PostgresServer;
  readonly #url: string;

  private constructor(server: PostgresServer, url: string) {
    this.#server = server;
    this.#url = url;
    this.settings = { UMPIRE_DATABASE_URL: url };
  }

  /** A database of its own in a server that stays the caller's. */
  static async create(server: PostgresServer): Promise<PostgresMoneyStore> {
    return new PostgresMoneyStore(server, await server.createDatabase());
  }

  query(sql: string): Promise<readonly Row[]> {
    return this.#server.query(this.#url, sql);
  }

  async queryRemains(sql: string): Promise<readonly Row[]> {
    const others = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
      AND backend_type = 'client backend'`;
    await until('nobody else is connected', async () => (await this.query(others)).length === 0);
    return await this.query(sql);
  }

  async dispose(): Promise<void> {}
}
