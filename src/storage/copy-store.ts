// Everything of one store into another, empty one, whichever databases they are: in one transaction, read back and
// compared row by row before it is committed.

import { createHash } from 'node:crypto';
import { CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely';
import { messageOf } from '../domain/errors.ts';
import type { CopiedStore, CopiedTable } from '../domain/store-report.ts';
import { isPostgres } from './database-kind.ts';
import { sumCosts } from './ledger-sums.ts';
import type { Database } from './schema.ts';
import { StorageError } from './storage-error.ts';

/** Processes do not move: none lives on either side, and what they left open is closed where it arrives. */
type CopiedTableName = Exclude<keyof Database, 'schema_migrations' | 'instances'>;

/** Every such table with its primary key, by which it is read in pieces. One that is missing here does not compile. */
const KEYS_OF_TABLES = {
  api_keys: ['id'],
  api_key_secrets: ['hash'],
  prices: ['model_id', 'effective_from_ms'],
  audit_log: ['id'],
  accounts: ['key_id'],
  reservations: ['id'],
  ledger: ['id'],
  usage_rollups: ['key_id', 'hour_start_ms', 'model_id', 'endpoint', 'end_type'],
  idempotency: ['key_hash', 'key_id'],
} as const satisfies Record<CopiedTableName, readonly string[]>;

const TABLES = Object.keys(KEYS_OF_TABLES) as readonly CopiedTableName[];

/** Rows of a ledger are the widest; a statement may have 32,766 parameters on SQLite, 65,535 on PostgreSQL. */
const ROWS_PER_STATEMENT = 1000;

/** Four times as long as a server is silent by default before the others take it for dead. */
const SIGN_OF_LIFE_MS = 60_000;

type Row = Readonly<Record<string, unknown>>;

/**
 * Both have the newest schema. Nobody else can write to either while it runs.
 * @param nowMs tells which servers on PostgreSQL live
 * @throws StorageError when the target is not empty or does not hold the same afterwards; then it stays as it was
 */
export async function copyStore(
  source: Kysely<Database>,
  target: Kysely<Database>,
  nowMs: number,
): Promise<CopiedStore> {
  return await source.transaction().execute((from) =>
    target.transaction().execute(async (to) => {
      await lockTables(to, 'exclusive');
      await refuseFilled(to);
      await lockTables(from, 'share');
      await refuseServed(from, nowMs);
      const tables: CopiedTable[] = [];
      for (const table of TABLES) tables.push({ table, rows: await copyTable(table, from, to) });
      await continueAuditIds(to);
      const costPicoUsd = await sumCosts(to, {});
      if (costPicoUsd !== (await sumCosts(from, {})))
        throw new StorageError('The copy has other costs than the source.');
      return { tables, costPicoUsd };
    }),
  );
}

/** SQLite has one writer, and this transaction is it. Not waiting also tells when both are one and the same. */
async function lockTables(database: Kysely<Database>, mode: 'share' | 'exclusive'): Promise<void> {
  if (!isPostgres(database)) return;
  const names = sql.join(TABLES.map((table) => sql.table(table)));
  try {
    await sql`lock table ${names} in ${sql.raw(mode)} mode nowait`.execute(database);
  } catch (error) {
    const end = mode === 'share' ? 'source' : 'target';
    throw new StorageError(`The ${end} is in use: stop the servers and commands that use it (${messageOf(error)})`);
  }
}

/** A server would go on billing where nobody looks any more. On SQLite the lock of the folder has told that already. */
async function refuseServed(source: Kysely<Database>, nowMs: number): Promise<void> {
  if (!isPostgres(source)) return;
  const rows = await source.selectFrom('instances').select('beat_at_ms').execute();
  const living = rows.filter(({ beat_at_ms }) => Math.abs(nowMs - Number(beat_at_ms)) < SIGN_OF_LIFE_MS);
  if (living.length > 0)
    throw new StorageError(
      `${living.length} servers gave a sign of life within the last minute: stop those that use the source first.`,
    );
}

async function refuseFilled(target: Kysely<Database>): Promise<void> {
  for (const table of [...TABLES, 'instances'] as const) {
    const { rows } = await sql`select 1 from ${sql.table(table)} limit 1`.execute(target);
    if (rows.length > 0) throw new StorageError(`The target is not empty: there are rows in its table ${table}.`);
  }
}

/** @returns rows copied */
async function copyTable(table: CopiedTableName, from: Kysely<Database>, to: Kysely<Database>): Promise<number> {
  const read = new RowSum();
  for await (const rows of readTable(table, from)) {
    read.add(rows);
    await insertRows(table, to, rows);
  }
  const written = new RowSum();
  for await (const rows of readTable(table, to)) written.add(rows);
  if (written.digest() !== read.digest())
    throw new StorageError(`The copy of the table ${table} is not what was read.`);
  return read.rows;
}

/** In the order of the primary key, which is the order of bytes on every database. */
async function* readTable(table: CopiedTableName, database: Kysely<Database>): AsyncGenerator<readonly Row[]> {
  const keys = KEYS_OF_TABLES[table];
  const columns = sql.join(keys.map((key) => sql.ref(key)));
  let after: RawBuilder<unknown> = sql``;
  for (;;) {
    const page = sql<Row>`select * from ${sql.table(table)} ${after} order by ${columns} limit ${sql.lit(ROWS_PER_STATEMENT)}`;
    const { rows } = await page.execute(database);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    after = sql`where (${columns}) > (${sql.join(keys.map((key) => last[key]))})`;
  }
}

async function insertRows(table: CopiedTableName, to: Kysely<Database>, rows: readonly Row[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {});
  const place = isPostgres(to) ? (index: number) => `$${index + 1}` : () => '?';
  const places = rows.map((_, row) => `(${columns.map((_, index) => place(row * columns.length + index)).join()})`);
  // As text: the builder would make and walk an object for each of twenty thousand values.
  const text = `insert into ${table} (${columns.join()}) values ${places.join()}`;
  const values = rows.flatMap((row) => columns.map((column) => row[column]));
  await to.executeQuery(CompiledQuery.raw(text, values));
}

/** PostgreSQL counts its own ids; those that were copied it has not seen. */
async function continueAuditIds(to: Kysely<Database>): Promise<void> {
  if (!isPostgres(to)) return;
  await sql`select setval(pg_get_serial_sequence('audit_log', 'id'), max(id)) from audit_log having max(id) is not null`.execute(
    to,
  );
}

/** Two tables with the same digest have the same rows in the same order. */
class RowSum {
  rows = 0;
  readonly #hash = createHash('sha256');

  add(rows: readonly Row[]): void {
    this.rows += rows.length;
    for (const row of rows) this.#hash.update(canonical(row));
  }

  digest(): string {
    return this.#hash.digest('hex');
  }
}

/** The databases may order columns, and give integers, in different ways. */
function canonical(row: Row): string {
  const cells = Object.keys(row)
    .sort()
    .map((column) => [column, row[column] === null ? null : String(row[column])]);
  return `${JSON.stringify(cells)}\n`;
}
