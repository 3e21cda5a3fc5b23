// PostgreSQL is cut off at every statement of a request, also when the statement was carried out and its reply is lost:
// what clients were told, and what the books say when the database is back.

import { RandomSource } from '../models/random-source.ts';
import { type Cut, type CutPhase, CuttingProxy } from '../postgres/cutting-proxy.ts';
import type { PostgresServer } from '../postgres/postgres-server.ts';
import { type BooksReport, compareBooks } from './books.ts';
import { type Answer, exchange, type Kind, type Order } from './exchange.ts';
import { Fleet } from './fleet.ts';
import { type IssuedKey, issueKey } from './issue-key.ts';
import { PostgresMoneyStore } from './money-store.ts';
import { untilSettled } from './until-settled.ts';

export interface CutRunOptions {
  readonly postgres: PostgresServer;
  /** Cuts at each statement, in each phase, by each way. */
  readonly rounds: number;
  readonly seed: number;
}

export interface CutRun {
  /** Cuts by phase and statement: `after commit`. */
  readonly cuts: Readonly<Record<string, number>>;
  readonly answers: readonly Answer[];
  readonly books: BooksReport;
}

/**
 * `new`: the first request of a key, nothing known of it. `early`: its work begins before the store is asked, and
 * reservation and row are one transaction. `idempotent`: with an Idempotency-Key, and sent again until it is answered.
 */
const WAYS = ['new', 'early', 'idempotent'] as const;
type Way = (typeof WAYS)[number];

/** Shorter than the database stays away. */
const SETTINGS = {
  UMPIRE_LEDGER_SETTLE_TIMEOUT_MS: '100',
  // Its signs of life are statements too.
  UMPIRE_LEDGER_INSTANCE_TIMEOUT_MS: '60000',
};
const PHASES: readonly CutPhase[] = ['before', 'after'];
const KINDS: readonly Kind[] = ['decision', 'embedding', 'chat', 'ranking', 'stream'];
/** No request sends as many. */
const MOST_STATEMENTS = 40;
const MOST_RETRIES = 20;
const MOST_PASSES = 5;
const BUDGET = { budgetPicoUsd: 10n ** 14n };

export async function cutEverywhere({ postgres, rounds, seed }: CutRunOptions): Promise<CutRun> {
  const store = await PostgresMoneyStore.create(postgres);
  const proxy = await CuttingProxy.before(postgres.port);
  const url = proxy.urlOf(store.settings.UMPIRE_DATABASE_URL);
  const fleet = await Fleet.over(store, { settings: { ...SETTINGS, UMPIRE_DATABASE_URL: url } });
  try {
    const address = await (await fleet.launch()).ready();
    const cutter = new Cutter({ address, proxy, key: await issueKey(address, BUDGET), seed });
    for (let round = 0; round < rounds; round++) {
      for (const way of WAYS) for (const phase of PHASES) await cutter.cutUntilCommit(way, phase);
    }
    await untilSettled(store);
    return { cuts: cutter.cuts, answers: cutter.answers, books: await compareBooks(store, cutter) };
  } finally {
    await fleet.dispose();
    await proxy.close();
  }
}

interface CutterOptions {
  readonly address: string;
  readonly proxy: CuttingProxy;
  /** One that is known to the server by now. */
  readonly key: IssuedKey;
  readonly seed: number;
}

class Cutter {
  readonly cuts: Record<string, number> = {};
  readonly answers: Answer[] = [];
  readonly cut: Order[] = [];
  readonly #options: CutterOptions;
  readonly #random: RandomSource;
  #sent = 0;

  constructor(options: CutterOptions) {
    this.#options = options;
    this.#random = new RandomSource(options.seed);
  }

  /**
   * A statement of the server's own that comes between may be cut in place of the request's last one, and the request after
   * it has none left: then its statements are cut once more.
   */
  async cutUntilCommit(way: Way, phase: CutPhase): Promise<void> {
    for (let pass = 0; pass < MOST_PASSES; pass++) {
      const before = this.#commits(way, phase);
      await this.#cutEachStatement(way, phase);
      if (this.#commits(way, phase) > before) return;
    }
    throw new Error(`The commit of no request was cut: ${way}, ${phase}.`);
  }

  #commits(way: Way, phase: CutPhase): number {
    return this.cuts[`${way}: ${phase} commit`] ?? 0;
  }

  async #cutEachStatement(way: Way, phase: CutPhase): Promise<void> {
    for (let passing = 0; passing < MOST_STATEMENTS; passing++) {
      let [cut, isServed] = await this.#cutOnce(way, phase, passing);
      // Not served though nothing was cut: a connection of the cut before was found to be dead. There may be more statements.
      for (let again = 0; cut === undefined && !isServed && again < MOST_RETRIES; again++)
        [cut, isServed] = await this.#cutOnce(way, phase, passing);
      if (cut === undefined) return;
      const what = `${way}: ${phase} ${shorten(cut.statement)}`;
      this.cuts[what] = (this.cuts[what] ?? 0) + 1;
    }
    throw new Error('A request without an end.');
  }

  /** @returns what was cut, if the request sent so many statements, and whether it was served */
  async #cutOnce(way: Way, phase: CutPhase, passing: number): Promise<[Cut | undefined, boolean]> {
    const { proxy, key } = this.#options;
    const isBrief = this.#random.chance(0.2);
    const { id, secret } = way === 'new' ? await this.#issue() : key;
    if (way === 'early') await this.#untilServed({ ...this.#order('decision'), keyId: id, secret });
    const kind = way === 'early' ? 'decision' : this.#random.pick(KINDS);
    const idempotency = way === 'idempotent' ? { idempotencyKey: `order-${this.#sent}` } : {};
    let done: Cut | undefined;
    void proxy.cutAfter(passing, phase).then((cut) => {
      done = cut;
      if (isBrief) proxy.restore();
    });
    const order = { ...this.#order(kind), keyId: id, secret, ...idempotency };
    const answer = await this.#send(order);
    proxy.restore();
    if (answer?.status !== 200 && way === 'idempotent')
      await this.#untilServed({ ...order, requestId: this.#nextId() });
    return [done, answer?.status === 200];
  }

  /** A connection that was cut a moment ago may be taken for whole until it is used. */
  async #issue(): Promise<IssuedKey> {
    for (let attempt = 1; attempt < MOST_RETRIES; attempt++) {
      const issued = await issueKey(this.#options.address, BUDGET).catch(() => undefined);
      if (issued !== undefined) return issued;
    }
    return await issueKey(this.#options.address, BUDGET);
  }

  async #untilServed(order: Order): Promise<void> {
    let sent = order;
    for (let attempt = 0; attempt < MOST_RETRIES; attempt++) {
      if ((await this.#send(sent))?.status === 200) return;
      sent = { ...order, requestId: this.#nextId() };
    }
    throw new Error(`Never served: ${this.answers.at(-1)?.text}`);
  }

  async #send(order: Order): Promise<Answer | undefined> {
    const answer = await exchange(this.#options.address, order);
    if (answer === undefined) this.cut.push(order);
    else this.answers.push(answer);
    return answer;
  }

  #order(kind: Kind) {
    return { requestId: this.#nextId(), kind, words: this.#random.whole(1, 12) };
  }

  #nextId(): string {
    return `cut-${this.#options.seed}-${this.#sent++}`;
  }
}

/** `insert into "ledger" (…` → `insert into "ledger"`: the same statement, whatever its parameters. */
function shorten(statement: string): string {
  return statement
    .split(/\s+/)
    .slice(0, 3)
    .join(' ')
    .replace(/[;(].*/, '');
}
