// Makes kysely speak to a file through node:sqlite, in the thread it runs in. One connection, held by one transaction or
// one statement at a time.

import {
  type CompiledQuery,
  type DatabaseConnection,
  type DatabaseIntrospector,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { SqliteConnection } from './sqlite-connection.ts';

export class NodeSqliteDialect implements Dialect {
  readonly #connection: SqliteConnection;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  createDriver(): Driver {
    return new NodeSqliteDriver(this.#connection);
  }

  createQueryCompiler(): SqliteQueryCompiler {
    return new SqliteQueryCompiler();
  }

  createAdapter(): SqliteAdapter {
    return new SqliteAdapter();
  }

  // biome-ignore lint/suspicious/noExplicitAny: kysely's own signature
  createIntrospector(database: Kysely<any>): DatabaseIntrospector {
    return new SqliteIntrospector(database);
  }
}

class NodeSqliteDriver implements Driver {
  readonly #connection: SqliteConnection;
  readonly #kysely: KyselyConnection;
  readonly #waiting: (() => void)[] = [];
  #isHeld = false;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
    this.#kysely = new KyselyConnection(connection);
  }

  async init(): Promise<void> {}

  // Transactions await between their statements: without this, others' would get into them.
  async acquireConnection(): Promise<DatabaseConnection> {
    if (this.#isHeld) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#isHeld = true;
    return this.#kysely;
  }

  async releaseConnection(): Promise<void> {
    const next = this.#waiting.shift();
    if (next === undefined) this.#isHeld = false;
    else next();
  }

  // The write lock is taken first: one that is asked for in mid-transaction fails at once instead of waiting.
  async beginTransaction(): Promise<void> {
    this.#connection.execute('begin immediate', []);
  }

  async commitTransaction(): Promise<void> {
    this.#connection.execute('commit', []);
  }

  // SQLite rolls back by itself when the disk is full or fails.
  async rollbackTransaction(): Promise<void> {
    if (this.#connection.isInTransaction) this.#connection.execute('rollback', []);
  }

  async destroy(): Promise<void> {
    this.#connection.close();
  }
}

class KyselyConnection implements DatabaseConnection {
  readonly #connection: SqliteConnection;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const { rows, changes } = this.#connection.execute(sql, parameters);
    return { rows: rows as Row[], ...(changes === undefined ? {} : { numAffectedRows: changes }) };
  }

  // biome-ignore lint/correctness/useYield: it only refuses
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('The SQLite store does not stream rows.');
  }
}
