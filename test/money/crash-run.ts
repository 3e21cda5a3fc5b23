// A server that is killed again and again in the middle of its work, and started again on what it left. After each kill
// the books of its clients are held against the store.

import { formatUsd } from '../../src/domain/money.ts';
import { RandomSource } from '../models/random-source.ts';
import { type BooksReport, compareBooks } from './books.ts';
import { ClientCrowd } from './client-crowd.ts';
import { Fleet } from './fleet.ts';
import { type IssuedKey, issueKey } from './issue-key.ts';
import type { MoneyStore } from './money-store.ts';
import { untilSettled } from './until-settled.ts';

export interface CrashRound {
  readonly kill: number;
  readonly answered: number;
  readonly cut: number;
  /** Ids of the requests that were reserved when the server died. */
  readonly openAtKill: readonly string[];
  /** Those of them that have a `crashed` row at cost 0 afterwards. */
  readonly recovered: readonly string[];
  /** From the moment the next server was ready. */
  readonly recoveryMs: number;
  /** Cut orders with an idempotency key that were sent again: paid before the kill, or run now. */
  readonly retries: { readonly replayed: number; readonly ran: number; readonly failed: readonly string[] };
  readonly books: BooksReport;
}

export interface CrashRunOptions {
  readonly store: MoneyStore;
  readonly kills: number;
  readonly clients: number;
  readonly seed: number;
}

const MONTHLY_BUDGET_PICO_USD = 100n * 10n ** 12n;
const LEAVING_SHARE = 0.1;
const [MIN_ANSWERS, MAX_ANSWERS] = [30, 150];
/** Yields after each kill, once everything is settled again. */
export async function* killAgainAndAgain(options: CrashRunOptions): AsyncGenerator<CrashRound> {
  const { store, seed } = options;
  const fleet = await Fleet.over(store);
  try {
    let server = await fleet.launch();
    const crowd = new ClientCrowd({
      ...options,
      leavingShare: LEAVING_SHARE,
      keys: await issueKeys(await server.ready()),
    });
    const random = new RandomSource(seed);
    for (let kill = 1; kill <= options.kills; kill++) {
      const before = { answered: crowd.answers.length, cut: crowd.cut.length };
      const work = crowd.run(await server.ready());
      const wanted = random.whole(MIN_ANSWERS, MAX_ANSWERS);
      await crowd.until((answers) => answers.length >= wanted);
      // Every other time right when the upstream was asked, so that all kinds of work are under way.
      if (kill % 2 === 0) await fleet.upstream.until(() => fleet.upstream.runningReplies > 0);
      await server.stop('SIGKILL');
      await work;
      const [answered, cut] = [crowd.answers.length - before.answered, crowd.cut.length - before.cut];
      const openAtKill = await listIds(store.queryRemains('SELECT id FROM reservations'));
      server = await fleet.launch();
      const address = await server.ready();
      const readyMs = performance.now();
      await untilSettled(store, openAtKill);
      const recoveryMs = performance.now() - readyMs;
      const recovered = await listCrashed(store, openAtKill);
      const retries = await retryCut(crowd, address, before.cut);
      const books = await compareBooks(store, crowd);
      yield { kill, answered, cut, openAtKill, recovered, recoveryMs, retries, books };
    }
  } finally {
    await fleet.dispose();
  }
}

/** Without terms, with a budget, with limits that nobody reaches: all ways through the accounting. */
async function issueKeys(address: string): Promise<IssuedKey[]> {
  return [
    await issueKey(address),
    await issueKey(address, { budgetPicoUsd: MONTHLY_BUDGET_PICO_USD }),
    await issueKey(address, { requestsPerMinute: 900_000, tokensPerMinute: 900_000_000, concurrentRequests: 900_000 }),
  ];
}

async function listIds(rows: ReturnType<MoneyStore['query']>): Promise<string[]> {
  return (await rows).map((row) => String(row['id'])).sort();
}

async function listCrashed(store: MoneyStore, ids: readonly string[]): Promise<string[]> {
  const crashed = await listIds(store.query(`SELECT id FROM ledger WHERE end_type = 'crashed' AND cost_pico_usd = 0`));
  return crashed.filter((id) => ids.includes(id));
}

async function retryCut(crowd: ClientCrowd, address: string, from: number): Promise<CrashRound['retries']> {
  const orders = crowd.cut.slice(from).filter(({ idempotencyKey }) => idempotencyKey !== undefined);
  const answers = await Promise.all(orders.map((order) => crowd.retry(address, order)));
  const served = answers.filter((answer) => answer?.status === 200);
  return {
    replayed: served.filter((answer) => answer?.isReplay).length,
    ran: served.filter((answer) => answer?.isReplay === false).length,
    failed: answers.flatMap((answer) => (answer?.status === 200 ? [] : [answer?.text ?? 'cut off'])),
  };
}

export function describeRound({ kill, answered, cut, openAtKill, recoveryMs, retries, books }: CrashRound): string {
  return [
    `kill ${kill}: ${answered} answered, ${cut} cut off, ${openAtKill.length} open (closed as crashed after ${Math.round(recoveryMs)} ms)`,
    `${retries.replayed} retries replayed, ${retries.ran} run`,
    `${books.rows} rows (${books.crashedRows} crashed), answered $${formatUsd(books.answeredPicoUsd)} + cut $${formatUsd(books.cutPicoUsd)} of $${formatUsd(books.ledgerPicoUsd)}`,
    `${books.faults.length} faults`,
  ].join('; ');
}
