// A device that fails under a whole server: no memory, numbers that overflow in half precision, a fault in the middle of a run.
// Callers have their answer or one clear refusal, readiness says what is so, and nothing is billed twice or stays reserved.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { findPicoUsd } from '../../src/domain/money.ts';
import type { ServerProcess } from '../process/server-process.ts';
import { until } from '../waiting/until.ts';
import { compareBooks } from './books.ts';
import type { Answer } from './exchange.ts';
import { Fleet } from './fleet.ts';
import { type IssuedKey, issueKey } from './issue-key.ts';
import { SqliteMoneyStore } from './money-store.ts';
import { HALF_DECISION_MODEL, HALF_EMBEDDING_MODEL, PricedModels, RERANKER_MODEL } from './priced-models.ts';
import { untilSettled } from './until-settled.ts';

// Whole servers do real work here, on machines that may be busy with other tests.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const ROWS = 8;
const TEXTS = 'the parcel is late,which bill,open,the order of the customer,no refund,angry,close it,yes'.split(',');

/** Requests of so many rows, one for each kind of model, and what they are about. */
const ASKED = {
  decision: (text: string) => ({
    path: 'systemone',
    body: {
      model: HALF_DECISION_MODEL,
      state: text,
      questions: Object.fromEntries(TEXTS.map((word) => [word, { type: 'noul', instructions: word }])),
    },
  }),
  embedding: (text: string) => ({
    path: 'embeddings',
    body: { model: HALF_EMBEDDING_MODEL, input: [text, ...TEXTS.slice(1)] },
  }),
  ranking: (text: string) => ({
    path: 'rerank',
    body: { model: RERANKER_MODEL, query: text, documents: TEXTS },
  }),
};
type Kind = keyof typeof ASKED;
const KINDS = Object.keys(ASKED) as Kind[];

interface DevicePlan {
  readonly fault?: 'memory' | 'lost';
  readonly aboveRows?: number;
  /** After the first fault. */
  readonly next?: DevicePlan;
  readonly isSticky?: boolean;
  readonly isSlow?: boolean;
}

const folder = mkdtempSync(join(tmpdir(), 'umpire-device-'));
const deviceFile = join(folder, 'device');
const models = new PricedModels('half');
const store = new SqliteMoneyStore();
const answers: Answer[] = [];
let fleet: Fleet;
let server: ServerProcess;
let address: string;
let key: IssuedKey;

async function launch(): Promise<void> {
  server = await fleet.launch();
  address = await server.ready();
}

beforeAll(async () => {
  const settings = {
    NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, 'stand-in-device.mjs')).href}`,
    TEST_DEVICE_FILE: deviceFile,
    UMPIRE_MODELS: models.folders.join(','),
    UMPIRE_ENGINE_DEVICE: 'standin',
    UMPIRE_ENGINE_WORKERS: '2',
    UMPIRE_ANSWERS_CACHE_BYTES: '0',
    UMPIRE_ANSWERS_MERGE: 'false',
  };
  fleet = await Fleet.over(store, { settings });
  await launch();
  key = await issueKey(address, { budgetPicoUsd: 10n ** 12n });
});

afterEach(async () => {
  plan({});
  await untilSettled(store);
  expect((await compareBooks(store, { answers, cut: [] })).faults).toEqual([]);
});

afterAll(async () => {
  await fleet.dispose();
  await store.dispose();
  models.remove();
  rmSync(folder, { recursive: true });
});

function plan(made: DevicePlan): void {
  writeFileSync(deviceFile, JSON.stringify(made));
  writeFileSync(`${deviceFile}.log`, '');
}

interface DeviceEvent {
  readonly ran?: string;
  readonly opened?: string;
  readonly rows?: number;
  readonly isFailing?: boolean;
}

function events(): DeviceEvent[] {
  const lines = readFileSync(`${deviceFile}.log`, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as DeviceEvent);
}

async function ask(kind: Kind, text = 'the customer is angry'): Promise<Answer> {
  const { path, body } = ASKED[kind](text);
  const requestId = `device-${answers.length}-${Math.random()}`;
  const reply = await fetch(`${address}/ai/v1/${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key.secret}`,
      'content-type': 'application/json',
      'x-request-id': requestId,
    },
    body: JSON.stringify(body),
  });
  const order = { requestId, kind, words: ROWS, keyId: key.id, secret: key.secret };
  const costPicoUsd = reply.status === 200 ? findPicoUsd(reply.headers.get('x-umpire-cost-usd') ?? '') : undefined;
  const answer = {
    order,
    status: reply.status,
    costPicoUsd,
    isReplay: false,
    headers: reply.headers,
    text: await reply.text(),
  };
  answers.push(answer);
  return answer;
}

/** All numbers of a reply but those of tokens. */
function numbersOf({ text }: Answer): number[] {
  const { usage: _, ...reply } = JSON.parse(text) as Record<string, unknown>;
  return (
    JSON.stringify(reply)
      .match(/-?\d+\.\d+(?:e-?\d+)?/g)
      ?.map(Number) ?? []
  );
}

function expectClose(found: Answer, due: Answer, most = 1e-3): void {
  const [numbers, expected] = [numbersOf(found), numbersOf(due)];
  expect(numbers.length).toBeGreaterThan(0);
  expect(numbers).toHaveLength(expected.length);
  for (const [at, value] of numbers.entries())
    expect(Math.abs(value - (expected[at] ?? Number.NaN))).toBeLessThan(most);
}

describe('a device without memory for a run', () => {
  it.each(KINDS)('is given a %s in two halves', async (kind) => {
    plan({});
    const whole = await ask(kind);
    plan({ fault: 'memory', aboveRows: ROWS / 2 });
    const halved = await ask(kind);
    expect([whole.status, halved.status]).toEqual([200, 200]);
    expectClose(halved, whole);
    expect(halved.costPicoUsd).toBe(whole.costPicoUsd);
    const failed = events().filter(({ isFailing }) => isFailing);
    expect(failed.length).toBeGreaterThan(0);
    expect(failed.every(({ rows }) => rows === ROWS)).toBe(true);
  });

  it.each(KINDS)('refuses a %s for which half of it is too much, and tries no further', async (kind) => {
    plan({ fault: 'memory' });
    const refused = await ask(kind);
    expect([refused.status, refused.text]).toEqual([503, expect.stringContaining('"overloaded"')]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(events().map(({ rows, isFailing }) => [rows, isFailing])).toEqual([
      [ROWS, true],
      [ROWS / 2, true],
      [ROWS / 2, true],
    ]);
    plan({});
    expect((await ask(kind)).status).toBe(200);
  });
});

describe('a row that overflows in half precision', () => {
  it.each(['decision', 'embedding'] as const)('is run again in full, alone, in a %s', async (kind) => {
    plan({});
    const calm = await ask(kind, 'a calm customer');
    expect(calm.status).toBe(200);
    expect(numbersOf(calm).every(Number.isFinite)).toBe(true);
    const ran = events().filter((event) => event.ran !== undefined && !event.ran.startsWith('head'));
    const [first, ...again] = ran;
    expect(first).toMatchObject({ ran: expect.stringContaining('fp16'), rows: ROWS });
    // All questions of the decision are about the text that overflows; of the embedding it is one of the texts.
    expect(again).toEqual(
      Array.from({ length: kind === 'decision' ? ROWS : 1 }, () => {
        return { ran: expect.stringContaining('fp32'), rows: 1, isFailing: false };
      }),
    );
  });
});

describe('a device that fails in the middle of a run', () => {
  it('is opened anew, and what it was asked is answered all the same, once', async () => {
    plan({});
    const before = await ask('decision');
    plan({ fault: 'lost', next: {} });
    const after = await ask('decision');
    expect([before.status, after.status]).toEqual([200, 200]);
    expectClose(after, before, 1e-6);
    expect(after.costPicoUsd).toBe(before.costPicoUsd);
    expect(events().some(({ opened }) => opened !== undefined)).toBe(true);
    await server.waitFor(/opened anew after a fault of the device/);
    // So soon after the last fault the next would be the last: the server starts anew.
    await server.stop();
    await launch();
  });

  it('makes the server not ready until its models are open again', async () => {
    const isReady = async (): Promise<boolean> => (await fetch(`${address}/readyz`)).status === 200;
    expect(await isReady()).toBe(true);
    plan({ fault: 'lost', next: { isSlow: true } });
    const asked = ask('ranking');
    await until('the server is not ready', async () => !(await isReady()));
    plan({});
    expect((await asked).status).toBe(200);
    await until('the server is ready', isReady);
    await server.stop();
    await launch();
  });

  it('ends the server where it stays so: all are refused, nothing is billed, and the next server answers', async () => {
    plan({ fault: 'lost', isSticky: true });
    const refused = await Promise.all(KINDS.map((kind) => ask(kind)));
    for (const { status, text, headers } of refused) {
      expect([status, text]).toEqual([503, expect.stringContaining('"model_unavailable"')]);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      expect(text).not.toContain('hostname');
    }
    expect(await server.exited).toEqual({ code: 1, signal: null });
    expect(server.output).toContain('the device is lost to this process');
    plan({});
    await launch();
    for (const kind of KINDS) expect((await ask(kind)).status).toBe(200);
  });
});
