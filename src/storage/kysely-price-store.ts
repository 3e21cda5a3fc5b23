// Dated prices in any SQL store that kysely speaks to.

import type { Kysely } from 'kysely';
import type { AuditRecord } from '../domain/audit.ts';
import type { DatedPrice } from '../domain/money.ts';
import { insertAuditRow } from './audit-row.ts';
import type { Database } from './schema.ts';
import type { PriceStore } from './stores.ts';

export class KyselyPriceStore implements PriceStore {
  readonly #database: Kysely<Database>;

  constructor(database: Kysely<Database>) {
    this.#database = database;
  }

  async insert({ modelId, effectiveFromMs, price, ...made }: DatedPrice, audit: AuditRecord): Promise<boolean> {
    return await this.#database.transaction().execute(async (transaction) => {
      const { numInsertedOrUpdatedRows: inserted } = await transaction
        .insertInto('prices')
        .values({
          model_id: modelId,
          effective_from_ms: effectiveFromMs,
          input_micro_usd: price.inputMicroUsd,
          cached_input_micro_usd: price.cachedInputMicroUsd,
          output_micro_usd: price.outputMicroUsd,
          created_at_ms: made.createdAtMs,
          created_by: made.createdBy,
        })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirstOrThrow();
      if (inserted !== 1n) return false;
      await insertAuditRow(transaction, audit);
      return true;
    });
  }

  async list(): Promise<readonly DatedPrice[]> {
    const rows = await this.#database
      .selectFrom('prices')
      .selectAll()
      .orderBy('model_id')
      .orderBy('effective_from_ms')
      .execute();
    return rows.map((row) => ({
      modelId: row.model_id,
      effectiveFromMs: Number(row.effective_from_ms),
      price: {
        inputMicroUsd: Number(row.input_micro_usd),
        cachedInputMicroUsd: Number(row.cached_input_micro_usd),
        outputMicroUsd: Number(row.output_micro_usd),
      },
      createdAtMs: Number(row.created_at_ms),
      createdBy: row.created_by,
    }));
  }
}
