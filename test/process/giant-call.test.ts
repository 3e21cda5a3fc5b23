// One decision of more work than the queue may hold, over HTTP to a real server: other keys are served meanwhile.

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testLogs } from '../log-scan/test-logs.ts';
import { until } from '../waiting/until.ts';
import { ROOT, ServerProcess } from './server-process.ts';

const MODEL = 'tiny-decision';
const MAX_COST_MS = 40;
const SHORT = { state: 'the invoice is late', questions: { q: { type: 'noul', instructions: 'is it late?' } } };
/** 29,000 tokens, beside a document of 3,000. */
const QUESTIONS = 850;
const LONG = { type: 'noul', instructions: 'is the invoice of the customer late, and what of the refund?' };
const GIANT = {
  state: 'invoice refund '.repeat(250),
  questions: Object.fromEntries(Array.from({ length: QUESTIONS }, (_, i) => [`q${i}`, LONG])),
};

let server: ServerProcess;
let address: string;
let adminKey: string;

beforeAll(async () => {
  server = new ServerProcess({
    UMPIRE_MODELS: join(ROOT, 'test', 'fixtures', MODEL),
    UMPIRE_ENGINE_QUEUE_MAX_COST_MS: String(MAX_COST_MS),
    // However busy the machine.
    UMPIRE_ENGINE_QUEUE_DEADLINE_MS: '600000',
    UMPIRE_ANSWERS_MERGE: 'false',
    UMPIRE_ANSWERS_CACHE_BYTES: '0',
  });
  address = await server.ready();
  adminKey = server.initialKey();
});

afterAll(() => server.dispose());

async function issue(): Promise<string> {
  const reply = await fetch(`${address}/admin/v1/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'one of many' }),
  });
  const { key } = (await reply.json()) as { key: string };
  testLogs.keepSecret(key);
  return key;
}

async function decide(key: string, body: object): Promise<Response> {
  return await fetch(`${address}/ai/v1/systemone`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL, ...body }),
  });
}

async function queuedMs(): Promise<number> {
  const metrics = await (await fetch(`${address}/metrics`)).text();
  return 1000 * Number(/^umpire_engine_queued_cost_seconds (\S+)/m.exec(metrics)?.[1]);
}

describe('a decision of more work than the queue may hold', () => {
  it('is answered whole, and other keys are served before it ends', async () => {
    const [giantKey, ...keys] = await Promise.all(Array.from({ length: 4 }, issue));
    let isDone = false;
    const giant = decide(giantKey ?? '', GIANT).finally(() => {
      isDone = true;
    });
    await until('the queue is full', async () => isDone || (await queuedMs()) >= MAX_COST_MS);
    const meanwhile: number[] = [];
    while (!isDone) {
      const replies = await Promise.all(keys.map((key) => decide(key, SHORT)));
      if (!isDone) meanwhile.push(...replies.map(({ status }) => status));
    }
    expect(meanwhile.filter((status) => status !== 200)).toEqual([]);
    expect(meanwhile.length).toBeGreaterThan(3);
    const reply = await giant;
    expect(reply.status).toBe(200);
    const { answers, usage } = (await reply.json()) as { answers: object; usage: { input_tokens: number } };
    expect(Object.keys(answers)).toHaveLength(QUESTIONS);
    expect(usage.input_tokens).toBeGreaterThan(10_000);
  });

  it('is refused to a key that has two of them, with its own wait', async () => {
    const [key = '', other = ''] = await Promise.all([issue(), issue()]);
    const giants = Array.from({ length: 4 }, () => decide(key, GIANT));
    await until('the queue is full', async () => (await queuedMs()) >= MAX_COST_MS);
    expect((await decide(other, SHORT)).status).toBe(200);
    const replies = await Promise.all(giants);
    const refused = replies.filter(({ status }) => status !== 200);
    for (const reply of refused) {
      expect(await reply.json()).toMatchObject({ error: { code: 'overloaded' } });
      expect(Number(reply.headers.get('retry-after-ms'))).toBeGreaterThanOrEqual(100);
    }
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length).toBeLessThan(3);
  });
});
