// One run of the fuzzer: clients that break every rule beside clients that pay, over a store and an upstream that fail
// now and then; and what was wrong when all is over.

import { setTimeout as sleep } from 'node:timers/promises';
import { RandomSource } from '../models/random-source.ts';
import { compareBooks } from '../money/books.ts';
import { ClientCrowd } from '../money/client-crowd.ts';
import { ORDER_TEXTS } from '../money/exchange.ts';
import type { MoneyStore } from '../money/money-store.ts';
import { untilSettled } from '../money/until-settled.ts';
import { answerNothing } from '../upstream/upstream-answers.ts';
import { UpstreamDouble } from '../upstream/upstream-double.ts';
import { type CaseKind, makeCase } from './cases.ts';
import { openFaultyStore, type StoreName } from './faulty-store.ts';
import { faultyAnswers, impatientSetting } from './faulty-upstream.ts';
import { FuzzedServer, type IssuedKey, readLog, type Stall } from './fuzzed-server.ts';
import { judge } from './replies.ts';
import { sendCase } from './send-case.ts';
import { type Keys, PRIVATE_TEXT } from './valid-requests.ts';

export interface FuzzOptions {
  readonly seed: number;
  readonly store: StoreName;
  readonly seconds: number;
  readonly kinds: readonly CaseKind[];
  /** Only these cases, over and over, with nothing else going on; empty: all. */
  readonly cases: readonly number[];
  /** Longer work of the main thread at one go is a fault, five times as long to be blocked too; undefined: none is. */
  readonly stallLimitMs: number | undefined;
}

export interface FuzzReport {
  /** Sentences; empty when all is well. */
  readonly faults: readonly string[];
  readonly cases: number;
  /** status → how often. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Code of a reply with a status of 500 and more → how often. */
  readonly failures: ReadonlyMap<string, number>;
  readonly paid: { readonly answered: number; readonly cut: number; readonly rows: number };
  /** Of the times that the main thread did not come to its timers, the longest of each kind. */
  readonly longestMs: { readonly work: number; readonly blocked: number; readonly waiting: number };
  readonly peakBytes: number | undefined;
  /** For the collection of a test run. */
  readonly log: string;
}

const ROUGH_CLIENTS = 10;
const PAYING_CLIENTS = 3;
const LEAVING_SHARE = 0.15;
/** Between two failures of the store. */
const CALM_MS = { least: 300, most: 4000 };
const SETTLED_WITHIN_MS = 60_000;
const RECOVERED_WITHIN_MS = 20_000;
/** A busy disk blocks whoever writes a log line, a busy host everybody: only far more of it is laid at the server's door. */
const BLOCKED_FACTOR = 5;
const MAX_FAULTS = 200;
/** A stall that is told late belongs to what began a little before it. */
const SUSPECT_MS = 30;

const PAID_IN_VAIN = `SELECT request_id FROM ledger WHERE cost_pico_usd <> 0 AND end_type NOT IN ('completed', 'client_left')`;

interface Span {
  readonly number: number;
  readonly startMs: number;
  endMs: number;
}

export async function runFuzz(options: FuzzOptions): Promise<FuzzReport> {
  const faulty = await openFaultyStore(options.store);
  const upstream = await UpstreamDouble.start(answerNothing);
  try {
    const server = await FuzzedServer.start({ ...faulty.settings, UMPIRE_UPSTREAMS: impatientSetting(upstream) });
    try {
      const run = new FuzzRun(options, server, upstream);
      await run.prepare();
      await run.work((random, signal) => faulty.fail(random, signal));
      return await run.conclude(faulty.store);
    } finally {
      server.remove();
    }
  } finally {
    await upstream.close();
    await faulty.dispose();
  }
}

class FuzzRun {
  readonly #options: FuzzOptions;
  readonly #fuzzed: FuzzedServer;
  readonly #upstream: UpstreamDouble;
  readonly #faults: string[] = [];
  readonly #spans: Span[] = [];
  readonly #statuses = new Map<number, number>();
  readonly #failures = new Map<string, number>();
  readonly #over = new AbortController();
  readonly #paying: IssuedKey[] = [];
  readonly #rough: IssuedKey[] = [];
  #crowd: ClientCrowd | undefined;
  #keys: Keys | undefined;
  #startedMs = 0;
  #hasTrouble = false;
  #next = 0;

  constructor(options: FuzzOptions, server: FuzzedServer, upstream: UpstreamDouble) {
    this.#options = options;
    this.#fuzzed = server;
    this.#upstream = upstream;
  }

  async prepare(): Promise<void> {
    const { seed } = this.#options;
    const server = this.#fuzzed;
    for (const amount of ['1000', '0.0005']) {
      this.#paying.push(await server.issueKey({ budget: { amount_usd: amount, reset: 'none' } }));
    }
    const inference = await server.issueKey({});
    const poor = await server.issueKey({ budget: { amount_usd: '0', reset: 'none' } });
    const admin = await server.issueKey({ scopes: ['admin'] });
    const victim = await server.issueKey({});
    this.#rough.push(inference, poor, admin, victim);
    this.#keys = { inference: inference.secret, poor: poor.secret, admin: admin.secret, victimId: victim.id };
    this.#upstream.answer = faultyAnswers(new RandomSource(seed + 1), () => this.#hasTrouble);
    const crowd = { leavingShare: LEAVING_SHARE, clients: PAYING_CLIENTS, keys: this.#paying, seed };
    this.#crowd = new ClientCrowd(crowd);
    this.#startedMs = Date.now();
  }

  async work(fail: (random: RandomSource, signal: AbortSignal) => Promise<void>): Promise<void> {
    const { seconds, cases } = this.#options;
    const { signal } = this.#over;
    const lost = this.#fuzzed.server.lost.catch((error: unknown) => {
      this.#note(error instanceof Error ? error.message : String(error));
    });
    const isReplay = cases.length > 0;
    this.#hasTrouble = !isReplay;
    const rough = Array.from({ length: isReplay ? 1 : ROUGH_CLIENTS }, () => this.#sendRoughly());
    const paying = isReplay ? undefined : this.#crowd?.run(this.#fuzzed.server.origin);
    const trouble = isReplay ? undefined : this.#makeTrouble(fail);
    const everybody = Promise.all([...rough, paying, trouble]);
    // A fault of the fuzzer itself ends the run at once.
    await Promise.race([sleep(seconds * 1000, undefined, { signal }).catch(() => undefined), lost, everybody]);
    this.#over.abort();
    this.#hasTrouble = false;
    this.#crowd?.stop();
    await everybody;
  }

  async #sendRoughly(): Promise<void> {
    const { seed, kinds, cases } = this.#options;
    while (!this.#over.signal.aborted && this.#keys !== undefined) {
      const number = this.#next++;
      const chosen = cases.length === 0 ? number : (cases[number % cases.length] ?? 0);
      const span = { number: chosen, startMs: Date.now(), endMs: Number.POSITIVE_INFINITY };
      this.#spans.push(span);
      const one = makeCase(seed, chosen, kinds, this.#keys);
      const { text, isHung } = await sendCase(this.#fuzzed.port, one);
      span.endMs = Date.now();
      const { statuses, failures, faults } = judge(text);
      for (const status of statuses) count(this.#statuses, status);
      for (const code of failures) count(this.#failures, code);
      const who = `case ${chosen} (${one.kind})`;
      if (isHung) this.#note(`${who} was never ended`);
      for (const fault of faults) this.#note(`${who}: ${fault}`);
    }
  }

  async #makeTrouble(fail: (random: RandomSource, signal: AbortSignal) => Promise<void>): Promise<void> {
    const { signal } = this.#over;
    const random = new RandomSource(this.#options.seed + 2);
    while (!signal.aborted) {
      await sleep(random.whole(CALM_MS.least, CALM_MS.most), undefined, { signal }).catch(() => undefined);
      if (!signal.aborted) await fail(random, signal);
    }
  }

  #note(fault: string): void {
    if (this.#faults.length < MAX_FAULTS) this.#faults.push(fault);
  }

  async conclude(store: MoneyStore): Promise<FuzzReport> {
    const endMs = Date.now();
    await this.#expectRecovery();
    const peakBytes = this.#fuzzed.server.memoryUse()?.peakBytes;
    const rows = await this.#compareBooks(store);
    await this.#fuzzed.server.stop().catch((error: unknown) => this.#note(`stop: ${String(error)}`));
    const log = this.#fuzzed.readLog();
    const secrets = new Set([...this.#paying, ...this.#rough].map(({ secret }) => secret));
    const reading = readLog(log, { secrets, texts: new Set([PRIVATE_TEXT, ...ORDER_TEXTS]) });
    for (const fault of reading.faults) this.#note(fault);
    const stalls = reading.stalls.filter(({ atMs }) => atMs >= this.#startedMs && atMs <= endMs);
    for (const stall of stalls) this.#judgeStall(stall);
    return {
      faults: this.#faults,
      cases: this.#next,
      statuses: this.#statuses,
      failures: this.#failures,
      paid: { answered: this.#crowd?.answers.length ?? 0, cut: this.#crowd?.cut.length ?? 0, rows },
      longestMs: {
        work: Math.max(0, ...stalls.map(({ runMs }) => runMs)),
        blocked: Math.max(0, ...stalls.map(blockedMs)),
        waiting: Math.max(0, ...stalls.map(({ waitMs }) => waitMs)),
      },
      peakBytes,
      log,
    };
  }

  /** When nothing fails any more it serves again, and holds on to nothing. */
  async #expectRecovery(): Promise<void> {
    const [key] = this.#paying;
    const { origin } = this.#fuzzed.server;
    if (key === undefined || this.#crowd === undefined) return;
    const order = { requestId: 'the last one', kind: 'decision', words: 1, keyId: key.id, secret: key.secret } as const;
    const isServing = await isSoonSo(async () => (await this.#crowd?.retry(origin, order))?.status === 200);
    if (!isServing) this.#note(`it did not serve again within ${RECOVERED_WITHIN_MS} ms`);
    const metrics = async () => await (await fetch(`${origin}/metrics`)).text();
    const isAtRest = await isSoonSo(async () => /^umpire_http_requests_in_flight 1$/m.test(await metrics()));
    if (!isAtRest) this.#note(`requests are in flight ${RECOVERED_WITHIN_MS} ms after the last one`);
  }

  #judgeStall(stall: Stall): void {
    const limitMs = this.#options.stallLimitMs;
    if (limitMs === undefined || (stall.runMs <= limitMs && blockedMs(stall) <= BLOCKED_FACTOR * limitMs)) return;
    const { atMs, lateMs, waitMs, runMs } = stall;
    const suspects = this.#spans
      .filter(({ startMs, endMs }) => startMs <= atMs && endMs >= atMs - lateMs - SUSPECT_MS)
      .map(({ number }) => number);
    const told = [lateMs, waitMs, runMs].map((ms) => ms.toFixed(0));
    this.#note(
      `a stall of ${told[0]} ms, ${told[1]} for want of a core, ${told[2]} at work; cases ${suspects.join(',')}`,
    );
  }

  /** @returns how many rows there are */
  async #compareBooks(store: MoneyStore): Promise<number> {
    const settled = untilSettled(store).then(() => true);
    const isSettled = await Promise.race([settled, sleep(SETTLED_WITHIN_MS, false, { ref: false })]);
    if (!isSettled) this.#note(`books: something is still reserved ${SETTLED_WITHIN_MS} ms after the last request`);
    const paying = new Set(this.#paying.map(({ id }) => id));
    const own = only(store, (keyId) => paying.has(keyId));
    const { faults } = await compareBooks(own, { answers: this.#crowd?.answers ?? [], cut: this.#crowd?.cut ?? [] });
    // Of the others nobody knows what they sent; their accounts must be the sums of their rows all the same.
    const others = only(store, (keyId) => !paying.has(keyId));
    const strange = await compareBooks(others, { answers: [], cut: [] });
    const real = strange.faults.filter((fault) => !/^nobody sent |has \d+ rows$/.test(fault));
    // An upstream's refusal is passed on; the request was accepted all the same, and has a row at no cost.
    const own4xx = faults.filter((fault) => !/ \((chat|stream), 4\d\d\) has a row$/.test(fault));
    for (const fault of [...own4xx, ...real]) this.#note(`books: ${fault}`);
    for (const row of await store.query(PAID_IN_VAIN)) this.#note(`books: ${row['request_id']} failed and was billed`);
    return (await store.query('SELECT count(*) AS n FROM ledger')).map(({ n }) => Number(n))[0] ?? 0;
  }
}

async function isSoonSo(isSo: () => Promise<boolean>): Promise<boolean> {
  const untilMs = Date.now() + RECOVERED_WITHIN_MS;
  while (Date.now() < untilMs) {
    if (await isSo().catch(() => false)) return true;
    await sleep(200);
  }
  return false;
}

/** The rows of some keys; those without a key are everybody's. */
function only(store: MoneyStore, isWanted: (keyId: string) => boolean): MoneyStore {
  const query = async (sql: string) =>
    (await store.query(sql)).filter(({ key_id: keyId }) => keyId === undefined || isWanted(String(keyId)));
  return {
    ...store,
    name: store.name,
    settings: store.settings,
    query,
    queryRemains: query,
    dispose: () => store.dispose(),
  };
}

/** Neither at work nor waiting for a core: in a call that does not come back, or on a machine that stood still. */
function blockedMs({ lateMs, waitMs, runMs }: Stall): number {
  return Math.max(0, lateMs - waitMs - runMs);
}

function count<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
