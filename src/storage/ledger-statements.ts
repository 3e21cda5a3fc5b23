// The statements of the ledger: what a transaction reads before anything is decided, and what it writes afterwards. As
// few as possible, and those that do not need each other's results are sent together.

import {
  type Compilable,
  type Insertable,
  type Kysely,
  type RawBuilder,
  type Selectable,
  sql,
  type Transaction,
} from 'kysely';
import { newAccount } from '../domain/account.ts';
import { compiled, padded, slices } from './compiled-statements.ts';
import { isPostgres } from './database-kind.ts';
import { type ClaimEnd, type ClaimRow, IdempotencyClaims, writeReply } from './idempotency-claims.ts';
import type { BatchState, LedgerBatch, LedgerReads, OverruledRow } from './ledger-batch.ts';
import type { LedgerOperation } from './ledger-operation.ts';
import {
  toAccount,
  toAccountRow,
  toLedgerColumns,
  toLedgerRow,
  toOpenReservation,
  toOutcomeColumns,
  toReservationRow,
} from './ledger-row.ts';
import { sumCosts } from './ledger-sums.ts';
import type { AccountTable, Database, IdempotencyTable, ReservationTable } from './schema.ts';
import { sendTogether, sendWithCommit } from './send-together.ts';

type Tables = Transaction<Database>;

/** The commit does not wait for the disk. */
const COMMIT_WITHOUT_WAITING = sql`set local synchronous_commit = off`;

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
  const overruling = operations.flatMap(overrulingOf);
  const claimHashes = [
    ...reserving.flatMap(({ idempotency }) => (idempotency === null ? [] : [idempotency.keyHash])),
    ...overruling.flatMap(({ claimHash }) => (claimHash === null ? [] : [claimHash])),
  ];
  const keyIds = [...new Set([...reserving, ...overruling].map(({ keyId }) => keyId))];
  const ids = operations.flatMap(endedIds);
  const [found, reservations, claims] = await sendTogether(tables, [
    lockAccounts(tables, padded(keyIds), padded(ids)),
    ids.length === 0 ? undefined : takeReservations(tables, padded(ids)),
    claimHashes.length === 0 ? undefined : selectClaims(tables, claimHashes),
  ]);
  const missing = keyIds.filter((keyId) => !found.some((account) => account.key_id === keyId));
  const made = await makeAccounts(tables, missing);
  const locked = [...found, ...made];
  return {
    accounts: [...locked, ...(await lockOverlooked(tables, reservations, locked))].map(toAccount),
    reservations: reservations.map(toOpenReservation),
    // Claims belong to keys: behind the lock of an account nobody else changes its claims, before it somebody may have.
    claims: new IdempotencyClaims(made.length === 0 ? claims : await readClaims(tables, claimHashes)),
    reads: readsOf(tables),
  };
}

/** The same for the reservations of dead processes, which are taken off the list of the living. */
export async function readDeadState(tables: Tables, deadBeforeMs: number): Promise<BatchState> {
  const living = tables.selectFrom('instances').select('id').where('beat_at_ms', '>=', deadBeforeMs);
  const keyIds = tables.selectFrom('reservations').select('key_id').where('instance_id', 'not in', living);
  const [locked, reservations] = await sendTogether(tables, [
    selectAccountsLocked(tables).where('key_id', 'in', keyIds),
    tables.deleteFrom('reservations').where('instance_id', 'not in', living).returningAll(),
    tables.deleteFrom('instances').where('beat_at_ms', '<', deadBeforeMs),
  ]);
  return {
    accounts: [...locked, ...(await lockOverlooked(tables, reservations, locked))].map(toAccount),
    reservations: reservations.map(toOpenReservation),
    claims: new IdempotencyClaims([]),
    reads: readsOf(tables),
  };
}

/**
 * Writes what was decided, as the last thing in its transaction.
 * @param mayBeLost whether a crash of the database may undo the transaction although it was reported as committed; it
 * never undoes a part of it, and nothing that was committed earlier
 */
export async function writeBatch(tables: Tables, batch: LedgerBatch, mayBeLost: boolean): Promise<void> {
  const rows = batch.rows.map(({ reservation, outcome }) => toLedgerColumns(reservation.accepted, outcome));
  const reservations = batch.openReservations.map(toReservationRow);
  const accounts = batch.changedAccounts.map(toAccountRow);
  // Rows of one kind have the same columns in the same order.
  const inserted = <Row extends object>(
    name: string,
    all: readonly Row[],
    build: (rows: readonly Row[]) => Compilable,
  ) =>
    slices(all, MAX_ROWS).map((slice) =>
      compiled(tables, { name, parameters: slice.flatMap((row) => Object.values(row)), build: () => build(slice) }),
    );
  await sendWithCommit(tables, [
    ...(mayBeLost && isPostgres(tables) ? [{ compile: () => COMMIT_WITHOUT_WAITING.compile(tables) }] : []),
    ...inserted('insert rows', rows, (values) => tables.insertInto('ledger').values(values)),
    ...inserted('insert reservations', reservations, (values) => tables.insertInto('reservations').values(values)),
    ...inserted('upsert accounts', accounts, (values) => upsertAccounts(tables, values)),
    ...batch.overruled.map((overruled) => overruleRow(tables, overruled)),
    ...batch.claims.ends.map((end) => endClaim(tables, end)),
    ...batch.claims.given.map((claim) => markGiven(tables, claim)),
    ...slices(batch.claims.made, MAX_ROWS).map((values) => upsertClaims(tables, values)),
  ]);
}

function overrulingOf(operation: LedgerOperation) {
  return operation.type === 'settle' ? (operation.settlement.overrules ?? []) : [];
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

function lockAccounts(tables: Tables, keyIds: readonly string[], endedReservations: readonly string[]) {
  const build = () => {
    const accounts = selectAccountsLocked(tables);
    if (endedReservations.length === 0) return accounts.where('key_id', 'in', keyIds);
    const ending = tables.selectFrom('reservations').select('key_id').where('id', 'in', endedReservations);
    if (keyIds.length === 0) return accounts.where('key_id', 'in', ending);
    // One list of both: with `or` between two PostgreSQL reads the whole table.
    const named = sql<{ key_id: string }>`values ${sql.join(keyIds.map((keyId) => sql`(${keyId})`))}`;
    return accounts.where('key_id', 'in', ending.unionAll(named));
  };
  const name = `lock accounts ${keyIds.length}`;
  return compiled(tables, { name, parameters: [...endedReservations, ...keyIds], build });
}

/**
 * Between the lock and the taking a reservation may appear: one whose process was taken for dead, or whose commit was
 * under way when its connection was lost. Its account must be read all the same, or it would be written as a new one.
 */
async function lockOverlooked(
  tables: Tables,
  reservations: readonly Selectable<ReservationTable>[],
  locked: readonly Selectable<AccountTable>[],
): Promise<readonly Selectable<AccountTable>[]> {
  const known = new Set(locked.map(({ key_id }) => key_id));
  const keyIds = reservations.map(({ key_id }) => key_id).filter((keyId) => !known.has(keyId));
  return keyIds.length === 0 ? [] : await selectAccountsLocked(tables).where('key_id', 'in', keyIds).execute();
}

function takeReservations(tables: Tables, ids: readonly string[]) {
  const build = () => tables.deleteFrom('reservations').where('id', 'in', ids).returningAll();
  return compiled(tables, { name: 'take reservations', parameters: ids, build });
}

function selectClaims(tables: Tables, keyHashes: readonly string[]) {
  return tables.selectFrom('idempotency').selectAll().where('key_hash', 'in', keyHashes);
}

async function readClaims(tables: Tables, keyHashes: readonly string[]): Promise<Selectable<IdempotencyTable>[]> {
  return keyHashes.length === 0 ? [] : await selectClaims(tables, keyHashes).execute();
}

/** The first requests of keys. Another process may just be at the same. */
async function makeAccounts(tables: Tables, keyIds: readonly string[]): Promise<readonly Selectable<AccountTable>[]> {
  if (keyIds.length === 0) return [];
  const rows = keyIds.toSorted().map((keyId) => toAccountRow(newAccount(keyId)));
  for (const values of slices(rows, MAX_ROWS))
    await tables
      .insertInto('accounts')
      .values(values)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  return await selectAccountsLocked(tables).where('key_id', 'in', keyIds).execute();
}

function upsertAccounts(tables: Tables, rows: readonly Insertable<AccountTable>[]) {
  return tables
    .insertInto('accounts')
    .values(rows)
    .onConflict((conflict) => conflict.column('key_id').doUpdateSet(excluded(ACCOUNT_STATE)));
}

function upsertClaims(tables: Tables, rows: readonly Insertable<IdempotencyTable>[]) {
  return tables
    .insertInto('idempotency')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['key_hash', 'key_id']).doUpdateSet(excluded(CLAIM_STATE)));
}

function endClaim(tables: Tables, { keyHash, keyId, requestRowId, reply }: ClaimEnd) {
  const isIt = sql<boolean>`key_hash = ${keyHash} and key_id = ${keyId} and request_row_id = ${requestRowId}`;
  if (reply === undefined) return tables.deleteFrom('idempotency').where(isIt);
  return tables
    .updateTable('idempotency')
    .set({ is_done: 1, reply: writeReply(reply) })
    .where(isIt);
}

function markGiven(tables: Tables, { key_hash, key_id, request_row_id, is_done }: ClaimRow) {
  const isIt = sql<boolean>`key_hash = ${key_hash} and key_id = ${key_id} and request_row_id = ${request_row_id}`;
  return tables.updateTable('idempotency').set({ is_done }).where(isIt);
}

function overruleRow(tables: Tables, { row, outcome }: OverruledRow) {
  return tables.updateTable('ledger').set(toOutcomeColumns(outcome)).where('id', '=', row.id);
}

/** @param tables in the transaction that holds the lock of the account; otherwise what is read is only to be shown */
export function readsOf(tables: Kysely<Database>): LedgerReads {
  return {
    async sumsSince(keyId, periodStartMs) {
      const spentPicoUsd = await sumCosts(tables, { keyId, fromMs: periodStartMs });
      const open = await tables
        .selectFrom('reservations')
        .select(['accepted_at_ms', 'cost_pico_usd'])
        .where('key_id', '=', keyId)
        .execute();
      const reservedPicoUsd = open
        .filter(({ accepted_at_ms }) => Number(accepted_at_ms) >= periodStartMs)
        .reduce((sum, { cost_pico_usd }) => sum + BigInt(cost_pico_usd), 0n);
      return { spentPicoUsd, reservedPicoUsd, inFlight: open.length };
    },
    async findRow(id) {
      const row = await tables.selectFrom('ledger').selectAll().where('id', '=', id).executeTakeFirst();
      return row && toLedgerRow(row);
    },
  };
}

/** `set column = excluded.column` for each. */
function excluded<Column extends string>(columns: readonly Column[]): Record<Column, RawBuilder<never>> {
  const pairs = columns.map((column) => [column, sql<never>`${sql.ref(`excluded.${column}`)}`]);
  return Object.fromEntries(pairs) as Record<Column, RawBuilder<never>>;
}
