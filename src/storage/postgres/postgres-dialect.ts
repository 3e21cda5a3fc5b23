// Makes kysely speak to a pool of connections to PostgreSQL: times limited, errors told apart, broken connections
// thrown away. Keeps no state in a session, so a pooler may stand in between and hand out its connections by transaction.

import {
  type CompiledQuery,
  type DatabaseIntrospector,
  type Dialect,
  type Driver,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely';
import type { Pool, PoolClient, QueryResult as PostgresResult, QueryConfig } from 'pg';
import type { PipelinedConnection } from '../send-together.ts';
import { breaksConnection, translatePostgresError } from './postgres-error.ts';

export interface PostgresDialectOptions {
  /** In pipeline mode. Shared: closing it is left to whoever made it. */
  readonly pool: Pool;
  readonly statementTimeoutMs: number;
}

export class PostgresPoolDialect implements Dialect {
  readonly #options: PostgresDialectOptions;

  constructor(options: PostgresDialectOptions) {
    this.#options = options;
  }

  createDriver(): Driver {
    return new PostgresPoolDriver(this.#options);
  }

  createQueryCompiler(): PostgresQueryCompiler {
    return new PostgresQueryCompiler();
  }

  createAdapter(): PostgresAdapter {
    return new PostgresAdapter();
  }

  // biome-ignore lint/suspicious/noExplicitAny: kysely's own signature
  createIntrospector(database: Kysely<any>): DatabaseIntrospector {
    return new PostgresIntrospector(database);
  }
}

class PostgresPoolDriver implements Driver {
  readonly #options: PostgresDialectOptions;

  constructor(options: PostgresDialectOptions) {
    this.#options = options;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PostgresConnection> {
    const { pool, statementTimeoutMs } = this.#options;
    try {
      return new PostgresConnection(await pool.connect(), statementTimeoutMs);
    } catch (error) {
      throw translatePostgresError(error);
    }
  }

  async beginTransaction(connection: PostgresConnection): Promise<void> {
    connection.begin();
  }

  async commitTransaction(connection: PostgresConnection): Promise<void> {
    await connection.commit();
  }

  async rollbackTransaction(connection: PostgresConnection): Promise<void> {
    await connection.rollback();
  }

  async releaseConnection(connection: PostgresConnection): Promise<void> {
    connection.release();
  }

  async destroy(): Promise<void> {}
}

class PostgresConnection implements PipelinedConnection {
  readonly #client: PoolClient;
  readonly #statementTimeoutMs: number;
  #isBroken = false;
  /** Sent, and not waited for by anybody yet: the beginning of a transaction, its last writes. */
  readonly #sent: Promise<unknown>[] = [];

  constructor(client: PoolClient, statementTimeoutMs: number) {
    this.#client = client;
    this.#statementTimeoutMs = statementTimeoutMs;
  }

  /**
   * Does not wait: the first statement travels with it, which saves a round trip. The settings end with the transaction.
   * The locks of a process that hangs or is cut off are given up while those who wait for them still wait.
   */
  begin(): void {
    const limitMs = this.#statementTimeoutMs;
    const settings = { statement_timeout: limitMs, idle_in_transaction_session_timeout: Math.ceil(limitMs / 2) };
    const texts = Object.entries(settings).map(([name, value]) => `set local ${name} = ${value}`);
    this.#sendUnwatched({ text: ['begin isolation level read committed', ...texts].join('; ') });
  }

  sendAlong({ sql, parameters }: CompiledQuery): void {
    this.#sendUnwatched({ text: sql, values: [...parameters] });
  }

  async commit(): Promise<void> {
    const { command } = await this.#run({ text: 'commit' });
    if (command === 'ROLLBACK') throw new Error('A statement of the transaction had failed, so it was undone.');
  }

  /** Does not fail: a connection that cannot roll back is closed, which does it too. */
  async rollback(): Promise<void> {
    if (this.#isBroken) return;
    await this.#run({ text: 'rollback' }).catch(() => {
      this.#isBroken = true;
    });
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const { command, rowCount, rows } = await this.#run({ text: sql, values: [...parameters] });
    const isWrite = command === 'INSERT' || command === 'UPDATE' || command === 'DELETE';
    return { rows: rows as Row[], ...(isWrite ? { numAffectedRows: BigInt(rowCount ?? 0) } : {}) };
  }

  // biome-ignore lint/correctness/useYield: it only refuses
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('The PostgreSQL store does not stream rows.');
  }

  release(): void {
    this.#client.release(this.#isBroken);
  }

  #sendUnwatched(query: QueryConfig): void {
    const sent = this.#send(query);
    // Told by whoever waits for the next answer.
    sent.catch(() => undefined);
    this.#sent.push(sent);
  }

  async #run(query: QueryConfig): Promise<PostgresResult> {
    const before = this.#sent.splice(0);
    const results = await Promise.allSettled([...before, this.#send(query)]);
    // The first failure is the reason; those after it only say that there was one.
    for (const result of results) if (result.status === 'rejected') throw result.reason;
    return (results.at(-1) as PromiseFulfilledResult<PostgresResult>).value;
  }

  async #send(query: QueryConfig): Promise<PostgresResult> {
    try {
      return await this.#client.query({ ...query, query_timeout: this.#statementTimeoutMs } as QueryConfig);
    } catch (error) {
      this.#isBroken ||= breaksConnection(error);
      throw translatePostgresError(error);
    }
  }
}
