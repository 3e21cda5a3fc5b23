// The comparison that the proofs rest on finds each way in which money can be wrong.

import { describe, expect, it } from 'vitest';
import { compareBooks } from './books.ts';
import type { Answer, Order } from './exchange.ts';
import type { MoneyStore, Row } from './money-store.ts';

const ROW = { request_id: 'r1', key_id: 'k', end_type: 'completed', status: 200, cost_pico_usd: '500' };
const ACCOUNT = { key_id: 'k', spent_pico_usd: '500', reserved_pico_usd: '0', in_flight: '0' };
const ORDER: Order = { requestId: 'r1', kind: 'decision', words: 1, keyId: 'k', secret: '' };

function storeOf(
  ledger: readonly Row[],
  accounts: readonly Row[] = [ACCOUNT],
  reservations: readonly Row[] = [],
): MoneyStore {
  const query = async (sql: string): Promise<readonly Row[]> =>
    sql.includes('FROM ledger') ? ledger : sql.includes('FROM accounts') ? accounts : reservations;
  return { name: 'SQLite', settings: {}, query, queryRemains: query, dispose: async () => undefined };
}

function answerTo(order: Partial<Order> = {}, answer: Partial<Answer> = {}): Answer {
  const reply = { status: 200, costPicoUsd: 500n, isReplay: false, headers: new Headers(), text: '' };
  return { order: { ...ORDER, ...order }, ...reply, ...answer };
}

async function faultsOf(
  store: MoneyStore,
  answers: readonly Answer[],
  cut: readonly Order[] = [],
): Promise<readonly string[]> {
  return (await compareBooks(store, { answers, cut })).faults;
}

describe('the books', () => {
  it('agree', async () => {
    const { faults, ...sums } = await compareBooks(storeOf([ROW]), { answers: [answerTo()], cut: [] });
    expect(faults).toEqual([]);
    expect(sums).toEqual({ rows: 1, crashedRows: 0, answeredPicoUsd: 500n, cutPicoUsd: 0n, ledgerPicoUsd: 500n });
  });

  const retried = [answerTo({ idempotencyKey: 'i' }), answerTo({ requestId: 'r2', idempotencyKey: 'i' })];
  const twice = { ...ACCOUNT, spent_pico_usd: '1000' };

  it.each<[string, MoneyStore, readonly Answer[], readonly Order[], RegExp]>([
    ['an answer without a row', storeOf([], []), [answerTo()], [], /r1 .* has no row/],
    ['an answer with two rows', storeOf([ROW, ROW], [twice]), [answerTo()], [], /r1 has 2 rows/],
    ['another cost', storeOf([ROW]), [answerTo({}, { costPicoUsd: 501n })], [], /r1 .* was told 501, .* 500/],
    ['no cost told', storeOf([ROW]), [answerTo({}, { costPicoUsd: undefined })], [], /not told its cost/],
    ['a refusal that was billed', storeOf([ROW]), [answerTo({}, { status: 503 })], [], /was billed/],
    ['an overload with a row', storeOf([ROW]), [answerTo({}, { status: 503, text: '"overloaded"' })], [], /has a row/],
    ['a crash that was billed', storeOf([{ ...ROW, end_type: 'crashed' }]), [], [ORDER], /r1 was cut.* crashed 500/],
    ['a row of nobody', storeOf([ROW]), [], [], /nobody sent r1/],
    [
      'a retry billed again',
      storeOf([ROW, { ...ROW, request_id: 'r2' }], [twice]),
      retried,
      [],
      /i was billed 2 times/,
    ],
    ['a replay with a row', storeOf([ROW]), [answerTo({}, { isReplay: true })], [], /r1 .* has a row of its own/],
    ['an account that is wrong', storeOf([ROW], [twice]), [answerTo()], [], /account of k says 1000, its rows 500/],
    ['no account', storeOf([ROW], []), [answerTo()], [], /k has rows and no account/],
    ['money held back', storeOf([ROW], [{ ...ACCOUNT, in_flight: '1' }]), [answerTo()], [], /still holds 0 and 1/],
    ['a reservation', storeOf([ROW], [ACCOUNT], [{ request_id: 'r9' }]), [answerTo()], [], /r9 is still reserved/],
  ])('show %s', async (_what, store, answers, cut, told) => {
    const faults = await faultsOf(store, answers, cut);
    expect(faults).toEqual(expect.arrayContaining([expect.stringMatching(told)]));
  });
});
