// Whether the books agree: what must hold between the tables of a store, looked at in one snapshot, beside a running
// server too. Repairs nothing.

import { type Kysely, sql } from 'kysely';
import { formatUsd } from '../domain/money.ts';
import type { CheckedBooks } from '../domain/store-report.ts';
import { isPostgres } from './database-kind.ts';
import { sumCosts } from './ledger-sums.ts';
import type { Database } from './schema.ts';

/** A condition that no row may meet. */
interface Rule {
  readonly fault: string;
  readonly table: 'api_keys' | 'api_key_secrets' | 'reservations' | 'ledger' | 'usage_rollups';
  readonly where: string;
}

const RULES: readonly Rule[] = [
  {
    fault: 'keys without a secret',
    table: 'api_keys',
    where: 'not exists (select 1 from api_key_secrets where key_id = api_keys.id)',
  },
  {
    fault: 'secrets without a key',
    table: 'api_key_secrets',
    where: 'not exists (select 1 from api_keys where id = api_key_secrets.key_id)',
  },
  {
    fault: 'reservations without an account',
    table: 'reservations',
    where: 'not exists (select 1 from accounts where key_id = reservations.key_id)',
  },
  {
    fault: 'reservations of requests that have a row in the ledger',
    table: 'reservations',
    where: 'exists (select 1 from ledger where id = reservations.id)',
  },
  {
    fault: 'rows of the ledger without an account',
    table: 'ledger',
    where: 'not exists (select 1 from accounts where key_id = ledger.key_id)',
  },
  {
    // A request that failed, or whose client left under the policy `free`, costs nothing whatever it used.
    fault: 'rows of the ledger whose cost is not tokens × price',
    table: 'ledger',
    where: `cost_pico_usd <> 0 and cost_pico_usd <>
      (input_tokens - case when cached_tokens < input_tokens then cached_tokens else input_tokens end) * input_micro_usd
      + case when cached_tokens < input_tokens then cached_tokens else input_tokens end * cached_input_micro_usd
      + output_tokens * output_micro_usd`,
  },
  {
    fault: 'roll-ups of no request, or not of a whole hour',
    table: 'usage_rollups',
    where: 'requests < 1 or hour_start_ms % 3600000 <> 0',
  },
];

export async function checkBooks(database: Kysely<Database>): Promise<CheckedBooks> {
  return await database.connection().execute(async (connection) => {
    // One that may write would make a server on the same SQLite file wait for its end.
    await sql
      .raw(isPostgres(database) ? 'begin isolation level repeatable read read only' : 'begin')
      .execute(connection);
    try {
      const faults = [...(await brokenRules(connection)), ...(await wrongAccounts(connection))];
      return {
        faults,
        keys: await countRows(connection, 'api_keys'),
        ledgerRows: await countRows(connection, 'ledger'),
        openReservations: await countRows(connection, 'reservations'),
        costPicoUsd: await sumCosts(connection, {}),
      };
    } finally {
      await sql.raw('rollback').execute(connection);
    }
  });
}

async function brokenRules(database: Kysely<Database>): Promise<string[]> {
  const faults: string[] = [];
  for (const { fault, table, where } of RULES) {
    const count = await countRows(database, table, where);
    if (count > 0) faults.push(`${count} ${fault}`);
  }
  return faults;
}

/** Keys are named by their ids, which are no secrets. */
async function wrongAccounts(database: Kysely<Database>): Promise<string[]> {
  const faults: string[] = [];
  const accounts = await database.selectFrom('accounts').selectAll().orderBy('key_id').execute();
  const open = await database
    .selectFrom('reservations')
    .select(['key_id', 'accepted_at_ms', 'cost_pico_usd'])
    .execute();
  for (const account of accounts) {
    const { key_id: keyId } = account;
    const fromMs = Number(account.period_start_ms);
    const reservations = open.filter((reservation) => reservation.key_id === keyId);
    const reserved = reservations
      .filter(({ accepted_at_ms }) => Number(accepted_at_ms) >= fromMs)
      .reduce((sum, { cost_pico_usd }) => sum + BigInt(cost_pico_usd), 0n);
    const sums = [
      ['spent', BigInt(account.spent_pico_usd), await sumCosts(database, { keyId, fromMs })],
      ['reserved', BigInt(account.reserved_pico_usd), reserved],
    ] as const;
    for (const [what, told, found] of sums) {
      if (told === found) continue;
      faults.push(`the account of ${keyId} says $${formatUsd(told)} ${what}, its rows say $${formatUsd(found)}`);
    }
    if (Number(account.in_flight) !== reservations.length)
      faults.push(
        `the account of ${keyId} says ${account.in_flight} requests in flight, there are ${reservations.length}`,
      );
  }
  return faults;
}

async function countRows(database: Kysely<Database>, table: keyof Database, where = '1 = 1'): Promise<number> {
  const query = sql<{
    count: number | bigint | string;
  }>`select count(*) as count from ${sql.table(table)} where ${sql.raw(where)}`;
  const { rows } = await query.execute(database);
  return Number(rows[0]?.count ?? 0);
}
