// One open SQLite file: its settings, its prepared statements, and its integers as numbers where a number can hold them.

import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite';

/** The server has a few dozen statements, most in some sizes; the bound only keeps a mistake from growing without end. */
const MAX_STATEMENTS = 500;

/**
 * Pages of 4 KiB after which the journal is moved into the file. Whoever commits then waits for the disk: with SQLite's own
 * 1000 that was one request in a hundred.
 */
const JOURNAL_PAGES = 8000;

type SqliteRow = Record<string, SQLOutputValue>;

export interface SqliteResult {
  readonly rows: readonly SqliteRow[];
  /** Of a statement that answers with no rows. */
  readonly changes: bigint | undefined;
}

export interface SqliteConnectionOptions {
  /** How long a write waits for another connection to finish its own. */
  readonly busyTimeoutMs: number;
  readonly isReader?: boolean;
}

interface PreparedStatement {
  readonly statement: StatementSync;
  readonly hasRows: boolean;
}

export class SqliteConnection {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, PreparedStatement>();

  /** @param options `isReader`: a statement that writes is an error */
  constructor(file: string, { busyTimeoutMs, isReader = false }: SqliteConnectionOptions) {
    this.#database = new DatabaseSync(file, { timeout: busyTimeoutMs });
    // With WAL readers and a writer of another process do not block each other; with it NORMAL loses at most the last
    // commits when the machine loses power, never the file.
    this.#database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
    this.#database.exec(`PRAGMA wal_autocheckpoint = ${JOURNAL_PAGES}`);
    if (isReader) this.#database.exec('PRAGMA query_only = ON');
  }

  get isInTransaction(): boolean {
    return this.#database.isTransaction;
  }

  execute(sql: string, parameters: readonly unknown[]): SqliteResult {
    const { statement, hasRows } = this.#prepare(sql);
    const values = parameters as readonly SQLInputValue[];
    if (!hasRows) return { rows: [], changes: BigInt(statement.run(...values).changes) };
    const rows = statement.all(...values);
    for (const row of rows) narrowIntegers(row);
    return { rows, changes: undefined };
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  #prepare(sql: string): PreparedStatement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    // Without this an integer over 2^53 is an error.
    statement.setReadBigInts(true);
    const prepared = { statement, hasRows: statement.columns().length > 0 };
    if (this.#statements.size >= MAX_STATEMENTS) this.#statements.clear();
    this.#statements.set(sql, prepared);
    return prepared;
  }
}

/** Integers that a number holds exactly become numbers. */
function narrowIntegers(row: SqliteRow): void {
  for (const name in row) {
    const value = row[name];
    if (typeof value !== 'bigint') continue;
    const narrow = Number(value);
    if (Number.isSafeInteger(narrow)) row[name] = narrow;
  }
}
