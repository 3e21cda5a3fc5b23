// The HTTP layer with keys, limits and the ledger over a real SQLite store, around the fake engine. The test moves its
// clock and can cut the line to the ledger.

import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KeyStanding } from '../../src/domain/account.ts';
import type { ApiKey } from '../../src/domain/api-key.ts';
import type { LedgerRow } from '../../src/domain/ledger.ts';
import { LedgerAccounting, type LedgerOptions } from '../../src/services/accounting/ledger-accounting.ts';
import { ApiKeyService, type NewApiKey } from '../../src/services/keys/keys.ts';
import { openSqliteStores } from '../../src/storage/sqlite/open-sqlite-stores.ts';
import type { Stores } from '../../src/storage/stores.ts';
import { ManualClock, settledMeanwhile } from '../engine/manual-clock.ts';
import { FailingLedger } from '../ledger/failing-ledger.ts';
import { testLogs } from '../log-scan/test-logs.ts';
import { until } from '../waiting/until.ts';
import { createFakeEngine } from './fake-engine.ts';
import { startServerOf, type TestParts, type TestReply, type TestServer } from './test-server.ts';

/** A Saturday noon. */
export const NOON_MS = Date.UTC(2026, 10, 21, 12);
/** The fake engine counts words of state and instructions; its price of `kev` is 37,800 pico-dollars a token. */
export const DECISION = {
  model: 'kev',
  state: 'one two three',
  questions: { q: { type: 'noul', instructions: 'is it' } },
};
export const DECISION_TOKENS = 5;
export const DECISION_PICO_USD = 189_000n;
const SYSTEMONE = '/ai/v1/systemone';

export interface Caller {
  readonly key: ApiKey;
  readonly secret: string;
  readonly headers: Record<string, string>;
}

interface Parts {
  readonly folder: string;
  readonly stores: Stores;
  readonly ledger: FailingLedger;
  readonly keys: ApiKeyService;
  readonly clock: ManualClock;
  readonly accounting: LedgerAccounting;
  readonly server: TestServer;
  readonly metrics: { unbilled: number };
}

export class MeteredServer {
  readonly #parts: Parts;

  private constructor(parts: Parts) {
    this.#parts = parts;
  }

  static async start(
    options: Partial<LedgerOptions> = {},
    parts: Pick<TestParts, 'answers' | 'aliases' | 'tracer' | 'upstreams'> = {},
  ): Promise<MeteredServer> {
    const folder = mkdtempSync(join(tmpdir(), 'umpire-metered-'));
    const stores = await openSqliteStores({ dataDir: folder, exclusive: true });
    const ledger = new FailingLedger(stores.ledger);
    const clock = new ManualClock();
    clock.advance(NOON_MS);
    await ledger.beat('instance', NOON_MS);
    const metrics = { unbilled: 0 };
    const accounting = new LedgerAccounting({
      store: ledger,
      instanceId: 'instance',
      whenStoreFails: 'refuse',
      settleTimeoutMs: 3000,
      idempotency: { windowMs: 3_600_000, maxReplyBytes: 4096, waitMs: 8000 },
      metrics: {
        ledgerAnswered: () => undefined,
        servedUnbilled: () => {
          metrics.unbilled += 1;
        },
      },
      onFault: (error) => {
        throw error;
      },
      clock,
      ...options,
    });
    const keys = new ApiKeyService({ store: stores.keys, nowMs: () => clock.nowMs() });
    const server = await startServerOf({ ...parts, accounting, authenticator: keys });
    return new MeteredServer({ folder, stores, ledger, keys, clock, accounting, server, metrics });
  }

  /** Between two tests: the engine answers again, the line to the ledger stands, and rows that follow are later ones. */
  repair(): void {
    this.clock.advance(1);
    Object.assign(this.engine, createFakeEngine());
    this.ledger.down = 'none';
    this.ledger.onCall = () => undefined;
  }

  async close(): Promise<void> {
    const { server, accounting, stores, folder } = this.#parts;
    await server.app.close();
    await accounting.stop();
    await stores.close();
    rmSync(folder, { recursive: true });
  }

  get engine(): TestServer['engine'] {
    return this.#parts.server.engine;
  }

  /** Lines of the log, parsed. */
  get log(): TestServer['log'] {
    return this.#parts.server.log;
  }

  get ledger(): FailingLedger {
    return this.#parts.ledger;
  }

  get clock(): ManualClock {
    return this.#parts.clock;
  }

  get unbilled(): number {
    return this.#parts.metrics.unbilled;
  }

  async createCaller(wanted: Partial<NewApiKey> = {}): Promise<Caller> {
    const { key, secret } = await this.#parts.keys.create({ name: 'test', models: null, expiresAtMs: null, ...wanted });
    testLogs.keepAuthorization(`Bearer ${secret}`);
    return { key, secret, headers: { authorization: `Bearer ${secret}` } };
  }

  async decide(caller: Caller, headers: Record<string, string> = {}, body: unknown = DECISION): Promise<TestReply> {
    return await this.#parts.server.post(SYSTEMONE, body, { ...caller.headers, ...headers });
  }

  async get(path: string, { headers }: Pick<Caller, 'headers'>): Promise<TestReply> {
    return await this.#parts.server.get(path, headers);
  }

  async post(path: string, body: unknown, { headers }: Pick<Caller, 'headers'>): Promise<TestReply> {
    return await this.#parts.server.post(path, body, headers);
  }

  /** @returns the address of a real port, so that a client can leave */
  async listen(): Promise<string> {
    const { app } = this.#parts.server;
    if (!app.server.listening) await app.listen({ port: 0, host: '127.0.0.1' });
    return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  }

  async fetchDecision(caller: Caller, init: RequestInit = {}): Promise<Response> {
    const body = JSON.stringify(DECISION);
    testLogs.keepBody(body);
    return await fetch(`${await this.listen()}${SYSTEMONE}`, {
      method: 'POST',
      body,
      ...init,
      headers: { 'content-type': 'application/json', ...caller.headers, ...init.headers },
    });
  }

  /** Of a key, oldest first. */
  async rows({ key }: Caller): Promise<readonly LedgerRow[]> {
    const { usage } = this.#parts.stores;
    const filter = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER, keyId: key.id };
    return (await usage.rows(filter, { before: undefined, limit: 1000 })).toReversed();
  }

  /** Where the books have the key. */
  async standing({ key }: Caller): Promise<KeyStanding> {
    return await this.#parts.stores.ledger.standing(key, this.clock.nowMs());
  }

  async metricsText(): Promise<string> {
    return (await this.#parts.server.get('/metrics')).text;
  }

  /** Lets the clock run on until it is so, but only while somebody waits for it: a client that waits needs hours of turns. */
  async until(isSo: () => boolean | Promise<boolean>): Promise<void> {
    await until(
      'it is so on the clock of the test',
      async () => {
        if (await isSo()) return true;
        if (this.clock.timerCount > 0) this.clock.advance(10);
        return false;
      },
      { pauseMs: 0 },
    );
  }

  /** Lets the clock run on until the promise is settled. */
  async settled<T>(promise: Promise<T>): Promise<T> {
    return await settledMeanwhile(promise, (isSo) => this.until(isSo));
  }
}
