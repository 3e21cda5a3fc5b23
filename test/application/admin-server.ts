// The HTTP layer over a real store (SQLite in a folder of its own, unless told otherwise), with callers of every kind and
// a clock that tests move.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ApiKey } from '../../src/domain/api-key.ts';
import type { LedgerRow } from '../../src/domain/ledger.ts';
import type { Administration } from '../../src/services/administration.ts';
import { AuditService } from '../../src/services/audit.ts';
import { ApiKeyService, type NewApiKey } from '../../src/services/keys/keys.ts';
import { LearningService } from '../../src/services/learning/learning.ts';
import { PriceService } from '../../src/services/prices.ts';
import { UsageService } from '../../src/services/reports/reports.ts';
import { openSqliteStores } from '../../src/storage/sqlite/open-sqlite-stores.ts';
import type { Stores } from '../../src/storage/stores.ts';
import { FakeLearner } from './fake-learner.ts';
import { startServerOf, type TestReply, type TestServer } from './test-server.ts';

/** Labelled rows of a request at most. */
export const MAX_ROWS = 50;

/** A Saturday noon. */
export const NOON_MS = Date.UTC(2026, 10, 21, 12);

export const CONFIGURED_KEY = 'the-key-of-the-configuration';

export interface Caller {
  readonly key: ApiKey;
  readonly secret: string;
  readonly headers: Record<string, string>;
}

export interface AdminServerOptions {
  readonly fixedSecret?: string;
  /** Default: SQLite in a new folder. */
  readonly open?: () => Promise<Stores>;
}

export class AdminServer {
  readonly server: TestServer;
  readonly stores: Stores;
  readonly keys: ApiKeyService;
  readonly administration: Administration;
  /** What learns for this server, and what it serves of it. */
  readonly learner: FakeLearner;
  readonly clock: { nowMs: number };
  readonly #folder: string;

  private constructor(
    parts: Pick<AdminServer, 'server' | 'stores' | 'administration' | 'learner' | 'clock'> & { folder: string },
  ) {
    this.server = parts.server;
    this.stores = parts.stores;
    this.administration = parts.administration;
    this.keys = parts.administration.keys;
    this.learner = parts.learner;
    this.clock = parts.clock;
    this.#folder = parts.folder;
  }

  static async start({ fixedSecret, open }: AdminServerOptions = {}): Promise<AdminServer> {
    const folder = mkdtempSync(join(tmpdir(), 'umpire-admin-'));
    const stores = await (open === undefined ? openSqliteStores({ dataDir: folder, exclusive: true }) : open());
    const clock = { nowMs: NOON_MS };
    const nowMs = (): number => clock.nowMs;
    const keys = new ApiKeyService({ store: stores.keys, fixedSecret, nowMs });
    const administration = {
      keys,
      prices: new PriceService({ store: stores.prices, nowMs }),
      usage: new UsageService({ usage: stores.usage, ledger: stores.ledger, nowMs }),
      audit: new AuditService(stores.audit),
    };
    const learner = new FakeLearner();
    const learning = new LearningService({
      ...{ learner, models: learner.models, journal: learner.journal, audit: administration.audit },
      ...{ maxRows: () => MAX_ROWS, onEvent: (event) => learner.events.push(event), nowMs },
    });
    const server = await startServerOf({ authenticator: keys, administration, learning });
    return new AdminServer({ server, stores, administration, learner, clock, folder });
  }

  async close(): Promise<void> {
    await this.server.app.close();
    await this.stores.close();
    rmSync(this.#folder, { recursive: true });
  }

  /** A second connection to the same store, as another process has it. */
  async openAgain(): Promise<Stores> {
    return await openSqliteStores({ dataDir: this.#folder, exclusive: false });
  }

  async createCaller(wanted: Partial<NewApiKey> = {}): Promise<Caller> {
    const created = await this.keys.create({ name: 'test', models: null, expiresAtMs: null, ...wanted });
    return { ...created, headers: { authorization: `Bearer ${created.secret}` } };
  }

  async get(path: string, caller: Caller, headers: Record<string, string> = {}): Promise<TestReply> {
    return await this.server.send('GET', path, undefined, { ...caller.headers, ...headers });
  }

  async post(path: string, caller: Caller, body?: unknown): Promise<TestReply> {
    return await this.server.send('POST', path, body, caller.headers);
  }

  async patch(path: string, caller: Caller, body: unknown): Promise<TestReply> {
    return await this.server.send('PATCH', path, body, caller.headers);
  }

  /** One accepted and settled request of a key. */
  async bill(key: ApiKey, row: Partial<LedgerRow> & Pick<LedgerRow, 'id'>): Promise<void> {
    const { end, status, errorCode, usage, isEstimated, costPicoUsd, durationMs, waitMs, ...rest } = {
      ...rowOf(key, this.clock.nowMs),
      ...row,
    };
    const { upstream, upstreamFailures, ...accepted } = rest;
    const demand = { costPicoUsd, tokens: usage.inputTokens, budget: key.budget, limits: key.limits };
    await this.stores.ledger.beat('instance', this.clock.nowMs);
    await this.stores.ledger.reserve({ ...accepted, instanceId: 'instance', demand, idempotency: null });
    const asked = { upstream, upstreamFailures };
    const outcome = { end, status, errorCode, usage, isEstimated, costPicoUsd, durationMs, waitMs, ...asked };
    await this.stores.ledger.settle({ id: row.id, outcome });
  }
}

function rowOf(key: ApiKey, acceptedAtMs: number): LedgerRow {
  return {
    id: 'row',
    requestId: 'req_1',
    keyId: key.id,
    modelId: 'kev',
    endpoint: '/ai/v1/systemone',
    isStreamed: false,
    acceptedAtMs,
    price: { inputMicroUsd: 37_800, cachedInputMicroUsd: 37_800, outputMicroUsd: 0 },
    end: 'completed',
    status: 200,
    errorCode: null,
    usage: { inputTokens: 100, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 },
    isEstimated: false,
    costPicoUsd: 3_780_000n,
    durationMs: 12,
    waitMs: 3,
    upstream: null,
    upstreamFailures: null,
  };
}
