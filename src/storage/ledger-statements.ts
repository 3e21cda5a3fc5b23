// The statements of the ledger: what a transaction reads before anything is decided, and what it writes afterwards. As
// few as possible, and those that do not need each other's results are sent together.

import {
  type Insertable,
  type Kysely,
  type RawBuilder,
  type Selectable,
  sql,
  type Transaction,
} from 'kysely';
import { newAccount } from '../domain/account.ts';
import { isPostgres } from './database-kind.ts';
import { type ClaimEnd, IdempotencyClaims, writeReply } from './idempotency-claims.ts';
import type { BatchState, LedgerBatch, LedgerReads } from './ledger-batch.ts';
import type { LedgerOperation } from './ledger-operation.ts';
import { toAccount, toAccountRow, toLedgerColumns, toOpenReservation, toReservationRow } from './ledger-row.ts';
import { sumCosts } from './ledger-sums.ts';
import type { AccountTable, Database, IdempotencyTable, ReservationTable } from './schema.ts';

type Tables = Transaction<Database>;

/** Rows of one statement: bounds its parameters. */
const MAX_ROWS = 256;

const ACCOUNT_STATE = [
  'period_start_ms',
  'spent_pico_usd',
  'reserved_pico_usd',
  'in_flight',
  'last_used_at_ms',
  'minute_start_ms',
  'requests_now',
  'requests_before',
  'tokens_now',
  'tokens_before',
] as const satisfies readonly (keyof AccountTable)[];

const CLAIM_STATE = [
  'fingerprint',
  'request_row_id',
  'is_done',
  'expires_at_ms',
  'reply',
] as const satisfies readonly (keyof IdempotencyTable)[];

/** Locks the accounts of all keys concerned, then takes the reservations that end out of the store. */
export async function readState(tables: Tables, operations: readonly LedgerOperation[]): Promise<BatchState> {
  const reserving = operations.flatMap((operation) => (operation.type === 'reserve' ? [operation.reservation] : []));
  const claimHashes = reserving.flatMap(({ idempotency }) => (idempotency === null ? [] : [idempotency.keyHash]));
  const keyIds = [...new Set(reserving.map(({ keyId }) => keyId))];
  const ids = operations.flatMap(endedIds);
  const [found, reservations, claims] = await together([
    lockAccounts(tables, keyIds, ids),
    takeReservations(tables, ids),
    selectClaims(tables, claimHashes),
  ]);
  const missing = keyIds.filter((keyId) => !found.some((account) => account.key_id === keyId));
  const made = await makeAccounts(tables, missing);
  return {
    accounts: [...found, ...made].map(toAccount),
    reservations: reservations.map(toOpenReservation),
    // Claims belong to keys: behind the lock of an account nobody else changes its claims, before it somebody may have.
    claims: new IdempotencyClaims(made.length === 0 ? claims : await selectClaims(tables, claimHashes)),
    reads: readsOf(tables),
  };
}

/** The same for the reservations of dead processes, which are taken off the list of the living. */
export async function readDeadState(tables: Tables, deadBeforeMs: number): Promise<BatchState> {
  const living = tables.selectFrom('instances').select('id').where('beat_at_ms', '>=', deadBeforeMs);
  const keyIds = tables.selectFrom('reservations').select('key_id').where('instance_id', 'not in', living);
  const [accounts, reservations] = await together([
    selectAccountsLocked(tables).where('key_id', 'in', keyIds).execute(),
    tables.deleteFrom('reservations').where('instance_id', 'not in', living).returningAll().execute(),
    tables.deleteFrom('instances').where('beat_at_ms', '<', deadBeforeMs).execute(),
  ]);
  return {
    accounts: accounts.map(toAccount),
    reservations: reservations.map(toOpenReservation),
    claims: new IdempotencyClaims([]),
    reads: readsOf(tables),
  };
}

export async function writeBatch(tables: Tables, batch: LedgerBatch): Promise<void> {
  const rows = batch.rows.map(({ reservation, outcome }) => toLedgerColumns(reservation.accepted, outcome));
  const reservations = batch.openReservations.map(toReservationRow);
  const accounts = batch.changedAccounts.map(toAccountRow);
  await together([
    ...slices(rows).map((values) => tables.insertInto('ledger').values(values).execute()),
    ...slices(reservations).map((values) => tables.insertInto('reservations').values(values).execute()),
    ...slices(accounts).map((values) => upsertAccounts(tables, values)),
    ...batch.claims.ends.map((end) => endClaim(tables, end)),
    ...slices(batch.claims.made).map((values) => upsertClaims(tables, values)),
  ]);
}

function endedIds(operation: LedgerOperation): readonly string[] {
  if (operation.type === 'settle') return [operation.settlement.id];
  return operation.type === 'release' ? [operation.id] : [];
}

// In the order of their ids, so that two transactions never wait for each other. SQLite needs none: one writes at a time.
function selectAccountsLocked(tables: Tables) {
  const accounts = tables.selectFrom('accounts').selectAll().orderBy('key_id');
  return isPostgres(tables) ? accounts.forUpdate() : accounts;
}

async function lockAccounts(
  tables: Tables,
  keyIds: readonly string[],
  endedReservations: readonly string[],
): Promise<Selectable<AccountTable>[]> {
  const accounts = selectAccountsLocked(tables);
  if (endedReservations.length === 0) return await accounts.where('key_id', 'in', keyIds).execute();
  const ending = tables.selectFrom('reservations').select('key_id').where('id', 'in', endedReservations);
  if (keyIds.length === 0) return await accounts.where('key_id', 'in', ending).execute();
  return await accounts
    .where((where) => where.or([where('key_id', 'in', keyIds), where('key_id', 'in', ending)]))
    .execute();
}

async function takeReservations(tables: Tables, ids: readonly string[]): Promise<Selectable<ReservationTable>[]> {
  if (ids.length === 0) return [];
  return await tables.deleteFrom('reservations').where('id', 'in', ids).returningAll().execute();
}

async function selectClaims(tables: Tables, keyHashes: readonly string[]): Promise<Selectable<IdempotencyTable>[]> {
  if (keyHashes.length === 0) return [];
  return await tables.selectFrom('idempotency').selectAll().where('key_hash', 'in', keyHashes).execute();
}

/** The first requests of keys. Another process may just be at the same. */
async function makeAccounts(tables: Tables, keyIds: readonly string[]): Promise<Selectable<AccountTable>[]> {
  if (keyIds.length === 0) return [];
  const rows = keyIds.toSorted().map((keyId) => toAccountRow(newAccount(keyId)));
  for (const values of slices(rows))
    await tables
      .insertInto('accounts')
      .values(values)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  return await selectAccountsLocked(tables).where('key_id', 'in', keyIds).execute();
}

async function upsertAccounts(tables: Tables, rows: readonly Insertable<AccountTable>[]): Promise<void> {
  await tables
    .insertInto('accounts')
    .values(rows)
    .onConflict((conflict) => conflict.column('key_id').doUpdateSet(excluded(ACCOUNT_STATE)))
    .execute();
}

async function upsertClaims(tables: Tables, rows: readonly Insertable<IdempotencyTable>[]): Promise<void> {
  await tables
    .insertInto('idempotency')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['key_hash', 'key_id']).doUpdateSet(excluded(CLAIM_STATE)))
    .execute();
}

async function endClaim(tables: Tables, { keyHash, keyId, requestRowId, reply }: ClaimEnd): Promise<void> {
  const isIt = sql<boolean>`key_hash = ${keyHash} and key_id = ${keyId} and request_row_id = ${requestRowId}`;
  if (reply === undefined) await tables.deleteFrom('idempotency').where(isIt).execute();
  else
    await tables
      .updateTable('idempotency')
      .set({ is_done: 1, reply: writeReply(reply) })
      .where(isIt)
      .execute();
}

/** @param tables in the transaction that holds the lock of the account; otherwise what is read is only to be shown */
export function readsOf(tables: Kysely<Database>): LedgerReads {
  return {
    async sumsSince(keyId, periodStartMs) {
      const reservations = tables
        .selectFrom('reservations')
        .select(['accepted_at_ms', 'cost_pico_usd'])
        .where('key_id', '=', keyId)
        .execute();
      const [spentPicoUsd, open] = await together([sumCosts(tables, { keyId, fromMs: periodStartMs }), reservations]);
      const reservedPicoUsd = open
        .filter(({ accepted_at_ms }) => Number(accepted_at_ms) >= periodStartMs)
        .reduce((sum, { cost_pico_usd }) => sum + BigInt(cost_pico_usd), 0n);
      return { spentPicoUsd, reservedPicoUsd, inFlight: open.length };
    },
    async isSettled(id) {
      const row = await tables.selectFrom('ledger').select('end_type').where('id', '=', id).executeTakeFirst();
      return row !== undefined && row.end_type !== 'crashed';
    },
  };
}

/** `set column = excluded.column` for each. */
function excluded<Column extends string>(columns: readonly Column[]): Record<Column, RawBuilder<never>> {
  const pairs = columns.map((column) => [column, sql<never>`${sql.ref(`excluded.${column}`)}`]);
  return Object.fromEntries(pairs) as Record<Column, RawBuilder<never>>;
}

function slices<Row>(rows: readonly Row[]): readonly (readonly Row[])[] {
  if (rows.length <= MAX_ROWS) return rows.length === 0 ? [] : [rows];
  return [rows.slice(0, MAX_ROWS), ...slices(rows.slice(MAX_ROWS))];
}

/** Waits for all even if one fails: none may still be under way when the transaction is undone. */
async function together<Values extends readonly unknown[]>(
  promises: readonly [...{ [Index in keyof Values]: Promise<Values[Index]> }],
): Promise<Values> {
  const results = await Promise.allSettled(promises);
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  }) as unknown as Values;
}
