// Holds what clients know against what the store says: rows, accounts, reservations. Finds every difference.

import type { Answer, Order } from './exchange.ts';
import type { MoneyStore, Row } from './money-store.ts';

export interface ClientBooks {
  readonly answers: readonly Answer[];
  readonly cut: readonly Order[];
}

export interface BooksReport {
  /** Sentences; empty when everything agrees. */
  readonly faults: readonly string[];
  readonly rows: number;
  readonly crashedRows: number;
  /** Of answered requests. */
  readonly answeredPicoUsd: bigint;
  /** Of requests that were cut off or left alone after there was something to pay for. */
  readonly cutPicoUsd: bigint;
  /** Of all rows. */
  readonly ledgerPicoUsd: bigint;
}

interface LedgerEntry {
  readonly requestId: string;
  readonly keyId: string;
  readonly end: string;
  readonly status: number;
  readonly costPicoUsd: bigint;
}

/** Statuses of requests that leave a counter and no row. */
const NEVER_ACCEPTED: ReadonlySet<number> = new Set([400, 401, 402, 403, 404, 429]);
const ROWS = 'SELECT request_id, key_id, end_type, status, cost_pico_usd FROM ledger';
const ACCOUNTS = 'SELECT key_id, spent_pico_usd, reserved_pico_usd, in_flight FROM accounts';

/** For a store whose servers are idle, and keys whose budgets have not been reset since the first row. */
export async function compareBooks(store: MoneyStore, books: ClientBooks): Promise<BooksReport> {
  const entries = (await store.query(ROWS)).map(toEntry);
  const byRequest = Map.groupBy(entries, ({ requestId }) => requestId);
  const answered = books.answers.filter(({ status }) => status === 200);
  const faults = [
    ...[...byRequest].filter(([, rows]) => rows.length > 1).map(([id, rows]) => `${id} has ${rows.length} rows`),
    ...books.answers.flatMap((answer) => faultsOfAnswer(answer, byRequest.get(answer.order.requestId) ?? [])),
    ...books.cut.flatMap((order) => faultsOfCut(order, byRequest.get(order.requestId) ?? [])),
    ...faultsOfStrangers(entries, books),
    ...faultsOfRetries(entries, books),
    ...faultsOfAccounts(await store.query(ACCOUNTS), entries),
    ...(await store.query('SELECT request_id FROM reservations')).map(
      (row) => `${row['request_id']} is still reserved`,
    ),
  ];
  return {
    faults,
    rows: entries.length,
    crashedRows: entries.filter(({ end }) => end === 'crashed').length,
    answeredPicoUsd: sumOf(answered.map(({ costPicoUsd, isReplay }) => (isReplay ? 0n : (costPicoUsd ?? 0n)))),
    cutPicoUsd: sumOf(books.cut.flatMap(({ requestId }) => costsOf(byRequest.get(requestId) ?? []))),
    ledgerPicoUsd: sumOf(costsOf(entries)),
  };
}

function costsOf(entries: readonly LedgerEntry[]): bigint[] {
  return entries.map(({ costPicoUsd }) => costPicoUsd);
}

function toEntry(row: Row): LedgerEntry {
  return {
    requestId: String(row['request_id']),
    keyId: String(row['key_id']),
    end: String(row['end_type']),
    status: Number(row['status']),
    costPicoUsd: BigInt(String(row['cost_pico_usd'])),
  };
}

export function sumOf(amounts: readonly bigint[]): bigint {
  return amounts.reduce((sum, amount) => sum + amount, 0n);
}

function faultsOfAnswer(
  { order, status, costPicoUsd, isReplay, text }: Answer,
  rows: readonly LedgerEntry[],
): string[] {
  const who = `${order.requestId} (${order.kind}, ${status}${isReplay ? ', replayed' : ''})`;
  if (isReplay) return rows.length === 0 ? [] : [`${who} has a row of its own`];
  if (NEVER_ACCEPTED.has(status) || text.includes('"overloaded"')) return rows.length === 0 ? [] : [`${who} has a row`];
  if (status !== 200) return rows.every((row) => row.costPicoUsd === 0n) ? [] : [`${who} was billed`];
  if (costPicoUsd === undefined || costPicoUsd === 0n) return [`${who} was not told its cost`];
  const [row] = rows;
  if (row === undefined) return [`${who} has no row`];
  const isRight = row.end === 'completed' && row.status === 200 && row.costPicoUsd === costPicoUsd;
  return isRight ? [] : [`${who} was told ${costPicoUsd}, its row is ${row.end} ${row.status} ${row.costPicoUsd}`];
}

/** It may not have been accepted, have been paid for in vain, or have died with the server: then it cost nothing. */
function faultsOfCut(order: Order, rows: readonly LedgerEntry[]): string[] {
  const wrong = rows.filter(
    ({ end, costPicoUsd }) => end !== 'completed' && end !== 'client_left' && costPicoUsd !== 0n,
  );
  return wrong.map(({ end, costPicoUsd }) => `${order.requestId} was cut, and its row is ${end} ${costPicoUsd}`);
}

function faultsOfStrangers(entries: readonly LedgerEntry[], { answers, cut }: ClientBooks): string[] {
  const sent = new Set([...answers.map(({ order }) => order), ...cut].map(({ requestId }) => requestId));
  return entries.filter(({ requestId }) => !sent.has(requestId)).map(({ requestId }) => `nobody sent ${requestId}`);
}

/** However often an order was sent: one row that costs, and the same cost in every reply. */
function faultsOfRetries(entries: readonly LedgerEntry[], { answers, cut }: ClientBooks): string[] {
  const orders = [...answers.map(({ order }) => order), ...cut].filter(({ idempotencyKey }) => idempotencyKey);
  const attempts = Map.groupBy(orders, ({ idempotencyKey }) => idempotencyKey);
  const paid = Map.groupBy(
    entries.filter(({ costPicoUsd }) => costPicoUsd > 0n),
    ({ requestId }) => requestId,
  );
  const replies = Map.groupBy(answers, ({ order }) => order.idempotencyKey);
  return [...attempts].flatMap(([key, sent]) => {
    const rows = sent.flatMap(({ requestId }) => paid.get(requestId) ?? []);
    const served = (replies.get(key) ?? []).filter(({ status }) => status === 200);
    const told = new Set(served.map(({ costPicoUsd }) => costPicoUsd));
    return [
      ...(rows.length > 1 ? [`${key} was billed ${rows.length} times`] : []),
      ...(served.length > 0 && rows.length === 0 ? [`${key} was answered, and nobody paid`] : []),
      ...(told.size > 1 ? [`${key} was told different costs: ${[...told].join(', ')}`] : []),
      ...served
        .filter(({ costPicoUsd }) => rows[0] !== undefined && rows[0].costPicoUsd !== costPicoUsd)
        .map(
          ({ order, costPicoUsd }) =>
            `${order.requestId} was told ${costPicoUsd} for an order that cost ${rows[0]?.costPicoUsd}`,
        ),
    ];
  });
}

function faultsOfAccounts(accounts: readonly Row[], entries: readonly LedgerEntry[]): string[] {
  const byKey = Map.groupBy(entries, ({ keyId }) => keyId);
  const known = new Set(accounts.map((account) => String(account['key_id'])));
  const homeless = [...byKey.keys()].filter((keyId) => !known.has(keyId));
  return [
    ...homeless.map((keyId) => `${keyId} has rows and no account`),
    ...accounts.flatMap((account) => {
      const keyId = String(account['key_id']);
      const spent = BigInt(String(account['spent_pico_usd']));
      const owed = sumOf((byKey.get(keyId) ?? []).map(({ costPicoUsd }) => costPicoUsd));
      const open = [BigInt(String(account['reserved_pico_usd'])), BigInt(String(account['in_flight']))];
      return [
        ...(spent === owed ? [] : [`the account of ${keyId} says ${spent}, its rows ${owed}`]),
        ...(open.every((amount) => amount === 0n) ? [] : [`the account of ${keyId} still holds ${open.join(' and ')}`]),
      ];
    }),
  ];
}
