// The ledger on PostgreSQL, where several servers write signs of life and each judges those of the others: times of
// different machines are compared by the one clock they share, the database's.

import { type Kysely, sql } from 'kysely';
import { KyselyLedger } from '../kysely-ledger.ts';
import type { Database } from '../schema.ts';

/** A smaller difference is the time that the question takes on its way. */
const MIN_DIFFERENCE_MS = 1000;

export class PostgresLedger extends KyselyLedger {
  readonly #database: Kysely<Database>;

  constructor(database: Kysely<Database>) {
    super(database);
    this.#database = database;
  }

  override async beat(instanceId: string, nowMs: number): Promise<void> {
    await super.beat(instanceId, nowMs + (await this.#readDifferenceMs()));
  }

  override async recover(deadBeforeMs: number, nowMs: number): Promise<number> {
    return await super.recover(deadBeforeMs + (await this.#readDifferenceMs()), nowMs);
  }

  /** By how much the clock of the database is ahead of this machine's. */
  async #readDifferenceMs(): Promise<number> {
    const askedAtMs = Date.now();
    const clock = sql<{
      readonly now_ms: number;
    }>`select (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms`;
    const { rows } = await clock.execute(this.#database);
    const differenceMs = (rows[0]?.now_ms ?? askedAtMs) - Math.round((askedAtMs + Date.now()) / 2);
    return Math.abs(differenceMs) < MIN_DIFFERENCE_MS ? 0 : differenceMs;
  }
}
