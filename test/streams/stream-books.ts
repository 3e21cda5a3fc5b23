// Holds the rows of chat streams against what their clients and their upstream kept. Finds every difference.

import { formatUsd } from '../../src/domain/money.ts';
import type { Row } from '../money/money-store.ts';
import { type ClientRecord, sawDone, textsSeen } from './leaving-client.ts';
import type { UpstreamRecord } from './recorded-upstream-process.ts';
import {
  billOfWhole,
  costOf,
  estimateOfTexts,
  PROMPT_ESTIMATE,
  retryIdOf,
  type Tokens,
  toldAfter,
} from './stream-order.ts';

export interface StreamRow {
  readonly requestId: string;
  readonly keyId: string;
  readonly end: string;
  readonly status: number;
  readonly tokens: Tokens;
  readonly isEstimated: boolean;
  readonly costPicoUsd: bigint;
}

export const STREAM_ROWS = `SELECT request_id, key_id, end_type, status, input_tokens, cached_tokens, output_tokens,
  is_estimated, cost_pico_usd FROM ledger`;

export function toStreamRow(row: Row): StreamRow {
  const number = (name: string): number => Number(row[name]);
  return {
    requestId: String(row['request_id']),
    keyId: String(row['key_id']),
    end: String(row['end_type']),
    status: number('status'),
    tokens: { input: number('input_tokens'), cached: number('cached_tokens'), output: number('output_tokens') },
    isEstimated: number('is_estimated') === 1,
    costPicoUsd: BigInt(String(row['cost_pico_usd'])),
  };
}

/** Everything that is known of one stream. */
interface Case {
  readonly client: ClientRecord;
  /** undefined: the request did not come to the upstream. */
  readonly upstream: UpstreamRecord | undefined;
  readonly row: StreamRow;
}

export interface StreamBooks {
  readonly clients: readonly ClientRecord[];
  /** Streams with an idempotency key, asked for again when all was at rest. */
  readonly retries: readonly ClientRecord[];
  readonly upstream: readonly UpstreamRecord[];
  readonly rows: readonly StreamRow[];
}

/** @returns sentences; empty when every stream has its one row, and that row is right */
export function faultsOfStreams({ clients, retries, upstream, rows }: StreamBooks): string[] {
  const recordsOf = Map.groupBy(upstream, ({ id }) => id);
  const rowsOf = Map.groupBy(rows, ({ requestId }) => requestId);
  const anew = new Set(retries.filter(({ isReplay }) => !isReplay).map(({ order }) => order.plan.id));
  const known = new Set([
    ...clients.map(({ order }) => order.plan.id),
    ...retries.filter(({ isReplay }) => !isReplay).map(({ order }) => retryIdOf(order)),
  ]);
  return [
    ...rows.filter(({ requestId }) => !known.has(requestId)).map(({ requestId }) => `nobody asked for ${requestId}`),
    ...clients.flatMap((client) => {
      const { id } = client.order.plan;
      // A retry runs anew only where the upstream did not hear of the first attempt: what it heard is the retry's.
      const [record, ...others] = recordsOf.get(id) ?? [];
      if (others.length > 0) return [`the upstream was asked for ${id} ${others.length + 1} times`];
      return faultsOfRows(client, anew.has(id) ? undefined : record, rowsOf.get(id) ?? []);
    }),
    ...retries.flatMap((retry) => faultsOfRetry(retry, rowsOf)),
  ];
}

/** A request that was cut on its way in was never accepted. */
function neverArrived({ hasLeft, status }: ClientRecord, upstream: UpstreamRecord | undefined): boolean {
  return hasLeft && status === undefined && upstream === undefined;
}

function faultsOfRows(
  client: ClientRecord,
  upstream: UpstreamRecord | undefined,
  rows: readonly StreamRow[],
): string[] {
  const [row] = rows;
  if (row === undefined && neverArrived(client, upstream)) return [];
  if (row === undefined || rows.length > 1) return [`${client.order.plan.id} has ${rows.length} rows`];
  return faultsOfCase({ client, upstream, row });
}

/** The first reply at the first price; or, where the first was never taken on, a call of its own. */
function faultsOfRetry(retry: ClientRecord, rowsOf: ReadonlyMap<string, readonly StreamRow[]>): string[] {
  const { plan } = retry.order;
  const [first] = rowsOf.get(plan.id) ?? [];
  const own = rowsOf.get(retryIdOf(retry.order)) ?? [];
  const isWhole = retry.status === 200 && sawDone(retry) && textsSeen(retry) === plan.texts;
  if (!isWhole) return [`the retry of ${plan.id} got ${retry.status} ${retry.text}`];
  const paid = first?.costPicoUsd ?? 0n;
  if (retry.isReplay) {
    const isRight = own.length === 0 && retry.costUsd === formatUsd(paid);
    return isRight ? [] : [`the retry of ${plan.id} was told $${retry.costUsd} of ${paid}`];
  }
  const bill = costOf(billOfWhole(plan).tokens);
  const isRight = paid === 0n && own.length === 1 && own[0]?.costPicoUsd === bill;
  return isRight ? [] : [`the retry of ${plan.id} was billed beside its first attempt`];
}

function faultsOfCase(one: Case): string[] {
  const { client, upstream, row } = one;
  const faults: string[] = [];
  if (row.costPicoUsd !== costOf(row.tokens)) faults.push('its cost is not its tokens by their prices');
  const wrong = findWrong(one);
  if (wrong !== undefined) faults.push(wrong);
  const told = JSON.stringify({ ...client, text: undefined, seen: textsSeen(client), done: sawDone(client), upstream });
  const written = JSON.stringify({ ...row, costPicoUsd: String(row.costPicoUsd) });
  return faults.map((fault) => `${row.requestId}: ${fault}. ${told} ${written}`);
}

/** @returns what is wrong with the row, or undefined */
function findWrong({ client, upstream, row }: Case): string | undefined {
  const { order, hasLeft, status } = client;
  if (sawDone(client) && row.end !== 'completed') return 'its client saw the end, and the row does not';
  if (!hasLeft && order.plan.breaksAfter === null && !sawDone(client)) return `it was answered ${status} and cut short`;
  switch (row.end) {
    case 'completed':
      if (row.status !== 200) return 'it was completed without a 200';
      return upstream?.saidAll === true ? wrongBillOfWhole(client, row) : 'it is complete, and its upstream was not';
    case 'upstream_failed':
      if (order.plan.breaksAfter === null) return 'its upstream did not fail';
      return row.costPicoUsd === 0n ? undefined : 'it failed and was billed';
    case 'client_left':
      if (!hasLeft || row.status !== 499) return 'its client was there';
      return wrongBillOfLeft({ client, upstream, row });
    default:
      return `it ended as ${row.end}`;
  }
}

function wrongBillOfWhole({ order }: ClientRecord, row: StreamRow): string | undefined {
  const { tokens, isEstimated } = billOfWhole(order.plan);
  const isRight = isSame(row.tokens, tokens) && row.isEstimated === isEstimated;
  return isRight ? undefined : `a whole answer is ${JSON.stringify(tokens)}`;
}

function wrongBillOfLeft({ client, upstream, row }: Case): string | undefined {
  const { policy, idempotencyKey } = client.order;
  const isUnasked = upstream === undefined;
  if (idempotencyKey !== undefined || policy === 'drain') {
    if (isUnasked) return row.costPicoUsd === 0n ? undefined : 'it was billed, and its upstream never asked';
    return upstream.saidAll ? wrongBillOfWhole(client, row) : 'it should have been read to its end';
  }
  if (policy === 'free') return row.costPicoUsd === 0n ? undefined : 'it is free, and was billed';
  return wrongEstimate({ client, upstream, row });
}

/** What was sent lies between what the client saw and what the upstream said: one of these prefixes it must be. */
function wrongEstimate({ client, upstream, row }: Case): string | undefined {
  const { plan } = client.order;
  // It was cut on its way out: sent for us, never arrived there.
  if (upstream === undefined) {
    const bills = [
      costOf({ input: 0, cached: 0, output: 0 }),
      costOf({ input: PROMPT_ESTIMATE, cached: 0, output: 0 }),
    ];
    return bills.includes(row.costPicoUsd) ? undefined : 'its upstream heard nothing of it';
  }
  for (let texts = textsSeen(client); texts <= upstream.texts; texts++) {
    for (const isOver of texts === plan.texts ? [false, true] : [false]) {
      // Usage that is told once after the first text comes a moment after that text.
      const toldSoFar =
        plan.usage === 'early' && texts === 1
          ? [undefined, toldAfter(plan, 1, false)]
          : [toldAfter(plan, texts, isOver)];
      for (const told of toldSoFar) {
        const tokens = told ?? { input: PROMPT_ESTIMATE, cached: 0, output: estimateOfTexts(texts) };
        if (isSame(row.tokens, tokens) && row.isEstimated === (told === undefined)) return undefined;
      }
    }
  }
  return 'nothing that was sent has this many tokens';
}

function isSame(one: Tokens, other: Tokens): boolean {
  return one.input === other.input && one.cached === other.cached && one.output === other.output;
}
