// API keys in any SQL store that kysely speaks to. Owns the queries and the shape of a row; the connection is handed in.

import { type Insertable, type Kysely, type Selectable, sql } from 'kysely';
import { type KeyScope, NO_LIMITS } from '../domain/api-key.ts';
import type { ApiKeyTable, Database } from './schema.ts';
import type { ApiKeyRecord, KeyStore } from './stores.ts';

export class KyselyKeyStore implements KeyStore {
  readonly #database: Kysely<Database>;

  constructor(database: Kysely<Database>) {
    this.#database = database;
  }

  async insert(record: ApiKeyRecord): Promise<void> {
    await this.#database.insertInto('api_keys').values(toRow(record)).execute();
  }

  async findByHash(secretHash: string): Promise<ApiKeyRecord | undefined> {
    const row = await this.#database
      .selectFrom('api_keys')
      .selectAll()
      .where('secret_hash', '=', secretHash)
      .executeTakeFirst();
    return row === undefined ? undefined : toRecord(row);
  }

  async list(): Promise<readonly ApiKeyRecord[]> {
    const rows = await this.#database
      .selectFrom('api_keys')
      .selectAll()
      .orderBy('created_at_ms')
      .orderBy('id')
      .execute();
    return rows.map(toRecord);
  }

  async revoke(id: string, atMs: number): Promise<boolean> {
    const result = await this.#database
      .updateTable('api_keys')
      .set({ revoked_at_ms: sql<number>`coalesce(revoked_at_ms, ${atMs})` })
      .where('id', '=', id)
      .executeTakeFirst();
    return result.numUpdatedRows > 0n;
  }

  async count(): Promise<number> {
    const row = await this.#database
      .selectFrom('api_keys')
      .select((select) => select.fn.countAll().as('count'))
      .executeTakeFirstOrThrow();
    return Number(row.count);
  }
}

function toRow(record: ApiKeyRecord): Insertable<ApiKeyTable> {
  return {
    id: record.id,
    name: record.name,
    visible_prefix: record.visiblePrefix,
    secret_hash: record.secretHash,
    models: record.models === null ? null : JSON.stringify(record.models),
    scopes: JSON.stringify(record.scopes),
    created_at_ms: record.createdAtMs,
    expires_at_ms: record.expiresAtMs,
    revoked_at_ms: record.revokedAtMs,
  };
}

function toRecord(row: Selectable<ApiKeyTable>): ApiKeyRecord {
  return {
    id: row.id,
    name: row.name,
    visiblePrefix: row.visible_prefix,
    secretHash: row.secret_hash,
    models: row.models === null ? null : (JSON.parse(row.models) as string[]),
    scopes: JSON.parse(row.scopes) as KeyScope[],
    budget: null,
    limits: NO_LIMITS,
    createdAtMs: Number(row.created_at_ms),
    createdBy: 'server',
    disabledAtMs: null,
    lastUsedAtMs: null,
    expiresAtMs: row.expires_at_ms === null ? null : Number(row.expires_at_ms),
    revokedAtMs: row.revoked_at_ms === null ? null : Number(row.revoked_at_ms),
  };
}
