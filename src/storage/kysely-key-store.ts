// API keys and their secrets in any SQL store that kysely speaks to. Owns the queries; the shape of a row is
// api-key-row.ts's, the connection is handed in.

import { type Kysely, sql, type Transaction } from 'kysely';
import type { ApiKey } from '../domain/api-key.ts';
import type { AuditRecord } from '../domain/audit.ts';
import { toApiKey, toChangedColumns, toKeyRow, toSecretRow } from './api-key-row.ts';
import { insertAuditRow } from './audit-row.ts';
import type { Database } from './schema.ts';
import type { KeyChange, KeyRotation, KeySecret, KeyStore } from './stores.ts';

type FoundKeyRow = Awaited<ReturnType<KeyStore['findByHash']>>;

export class KyselyKeyStore implements KeyStore {
  readonly #database: Kysely<Database>;

  constructor(database: Kysely<Database>) {
    this.#database = database;
  }

  async insert(key: ApiKey, secret: KeySecret, audit: AuditRecord): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      await transaction.insertInto('api_keys').values(toKeyRow(key)).execute();
      await transaction.insertInto('api_key_secrets').values(toSecretRow(key.id, secret)).execute();
      await insertAuditRow(transaction, audit);
    });
  }

  async findByHash(secretHash: string): Promise<FoundKeyRow> {
    const row = await selectKeys(this.#database)
      .innerJoin('api_key_secrets', 'api_key_secrets.key_id', 'api_keys.id')
      .select([
        'api_key_secrets.visible_prefix as secret_visible_prefix',
        'api_key_secrets.created_at_ms as secret_created_at_ms',
        'api_key_secrets.expires_at_ms as secret_expires_at_ms',
      ])
      .where('api_key_secrets.hash', '=', secretHash)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const expiresAtMs = row.secret_expires_at_ms === null ? null : Number(row.secret_expires_at_ms);
    const createdAtMs = Number(row.secret_created_at_ms);
    const secret = { hash: secretHash, visiblePrefix: row.secret_visible_prefix, createdAtMs, expiresAtMs };
    return { key: toApiKey(row), secret };
  }

  async listSecretHashes({
    createdFromMs,
    after,
    limit,
  }: Parameters<KeyStore['listSecretHashes']>[0]): Promise<readonly string[]> {
    let query = this.#database.selectFrom('api_key_secrets').select('hash').orderBy('hash').limit(limit);
    if (createdFromMs > 0) query = query.where('created_at_ms', '>=', createdFromMs);
    if (after !== undefined) query = query.where('hash', '>', after);
    return (await query.execute()).map(({ hash }) => hash);
  }

  async findById(id: string): Promise<ApiKey | undefined> {
    return await findKey(this.#database, id);
  }

  async list(page?: Parameters<KeyStore['list']>[0]): Promise<readonly ApiKey[]> {
    let query = selectKeys(this.#database).orderBy('api_keys.created_at_ms').orderBy('api_keys.id');
    if (page !== undefined) query = query.limit(page.limit);
    if (page?.after !== undefined) {
      const last = sql`(select created_at_ms, id from api_keys where id = ${page.after})`;
      query = query.where(sql<boolean>`(api_keys.created_at_ms, api_keys.id) > ${last}`);
    }
    return (await query.execute()).map(toApiKey);
  }

  async update(id: string, change: KeyChange, audit: AuditRecord): Promise<ApiKey | undefined> {
    return await this.#database.transaction().execute(async (transaction) => {
      const { numUpdatedRows } = await transaction
        .updateTable('api_keys')
        // The id too, so that a change of nothing is a statement as well.
        .set({ id, ...toChangedColumns(change) })
        .where('id', '=', id)
        .executeTakeFirst();
      return await auditKey(transaction, { id, isChanged: numUpdatedRows > 0n, audit });
    });
  }

  async revoke(id: string, audit: AuditRecord): Promise<ApiKey | undefined> {
    return await this.#database.transaction().execute(async (transaction) => {
      const { numUpdatedRows } = await transaction
        .updateTable('api_keys')
        .set({ revoked_at_ms: audit.atMs })
        .where('id', '=', id)
        .where('revoked_at_ms', 'is', null)
        .executeTakeFirst();
      return await auditKey(transaction, { id, isChanged: numUpdatedRows > 0n, audit });
    });
  }

  async rotate(id: string, { secret, overlapEndsAtMs, audit }: KeyRotation): Promise<ApiKey | undefined> {
    return await this.#database.transaction().execute(async (transaction) => {
      const { numUpdatedRows } = await transaction
        .updateTable('api_keys')
        .set({ visible_prefix: secret.visiblePrefix })
        .where('id', '=', id)
        .where('revoked_at_ms', 'is', null)
        .executeTakeFirst();
      if (numUpdatedRows === 0n) return undefined;
      await transaction
        .updateTable('api_key_secrets')
        .set({ expires_at_ms: overlapEndsAtMs })
        .where('key_id', '=', id)
        .where((where) => where.or([where('expires_at_ms', 'is', null), where('expires_at_ms', '>', overlapEndsAtMs)]))
        .execute();
      await transaction.insertInto('api_key_secrets').values(toSecretRow(id, secret)).execute();
      return await auditKey(transaction, { id, isChanged: true, audit });
    });
  }

  async count(): Promise<number> {
    const row = await this.#database
      .selectFrom('api_keys')
      .select((select) => select.fn.countAll().as('count'))
      .executeTakeFirstOrThrow();
    return Number(row.count);
  }
}

function selectKeys(database: Kysely<Database>) {
  return database
    .selectFrom('api_keys')
    .leftJoin('accounts', 'accounts.key_id', 'api_keys.id')
    .selectAll('api_keys')
    .select('accounts.last_used_at_ms');
}

async function findKey(database: Kysely<Database>, id: string): Promise<ApiKey | undefined> {
  const row = await selectKeys(database).where('api_keys.id', '=', id).executeTakeFirst();
  return row === undefined ? undefined : toApiKey(row);
}

interface AuditedChange {
  readonly id: string;
  readonly isChanged: boolean;
  readonly audit: AuditRecord;
}

/** What changed nothing leaves no record. */
async function auditKey(transaction: Transaction<Database>, change: AuditedChange): Promise<ApiKey | undefined> {
  if (change.isChanged) await insertAuditRow(transaction, change.audit);
  return await findKey(transaction, change.id);
}
