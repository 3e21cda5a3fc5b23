// Whatever is sent to the admin routes: an answer in order or a refusal, never a failure of ours, and no change by a
// request that was refused.

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminServer, type Caller } from './admin-server.ts';
import { expectRefusal } from './expect-refusal.ts';

let server: AdminServer;
let admin: Caller;
let target: Caller;
beforeAll(async () => {
  server = await AdminServer.start();
  admin = await server.createCaller({ scopes: ['inference', 'admin'] });
  target = await server.createCaller();
});
afterAll(() => server.close());

const scopes = fc.oneof(fc.constantFrom(['inference'], ['admin'], [], null, 'admin'), fc.jsonValue());
const amount = fc.oneof(fc.constantFrom('1', '0.000000000001', '9999999', '-1', '1e3', '٣', ' 1'), fc.jsonValue());
const time = fc.oneof(
  fc.constantFrom('2030-01-01', '2026-02-30', '9999-12-31T23:59:59.999Z', '0001-01-01'),
  fc.jsonValue(),
);
const optional = { requiredKeys: [] };
const keyBody = fc.record(
  {
    name: fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue()),
    scopes,
    models: fc.oneof(fc.array(fc.string({ unit: 'binary' })), fc.jsonValue()),
    budget: fc.oneof(
      fc.record({ amount_usd: amount, reset: fc.constantFrom('day', 'week', null) }, optional),
      fc.jsonValue(),
    ),
    limits: fc.oneof(
      fc.record(
        { requests_per_minute: fc.oneof(fc.double(), fc.maxSafeInteger()), tokens_per_minute: fc.jsonValue() },
        optional,
      ),
      fc.jsonValue(),
    ),
    expires_at: time,
    disabled: fc.oneof(fc.boolean(), fc.jsonValue()),
  },
  optional,
);
const priceBody = fc.record(
  {
    model: fc.string({ unit: 'binary' }),
    input_usd: amount,
    cached_input_usd: amount,
    output_usd: amount,
    effective_from: time,
  },
  optional,
);
const gold = fc.oneof(fc.boolean(), fc.constantFrom('a', '__proto__', 7, null), fc.jsonValue());
const question = fc.record(
  {
    type: fc.constantFrom('choice', 'noul', 'score', 'x'),
    instructions: fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue()),
    criteria: fc.oneof(fc.constantFrom({ a: null }, ['a', 'b'], null), fc.jsonValue()),
    gold,
    soft: fc.jsonValue(),
  },
  optional,
);
const labelledRow = fc.record(
  {
    state: fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue()),
    questions: fc.oneof(fc.dictionary(fc.string(), question), fc.array(question), fc.jsonValue()),
    gold: fc.oneof(fc.record({ q: gold }, optional), fc.jsonValue()),
  },
  optional,
);
const modelBody = fc.record(
  {
    id: fc.oneof(fc.constantFrom('support', 'kev', '..', ''), fc.string({ unit: 'binary' })),
    model: fc.oneof(fc.constantFrom('kev', 'text-embed-mini', 'nobody'), fc.jsonValue()),
    embedder: fc.jsonValue(),
    more: fc.oneof(fc.boolean(), fc.jsonValue()),
    questions: fc.oneof(fc.record({ q: question }), fc.jsonValue()),
    rows: fc.oneof(fc.array(labelledRow, { maxLength: 60 }), fc.jsonValue()),
  },
  optional,
);
const anything = (body: fc.Arbitrary<unknown>) => fc.oneof({ weight: 4, arbitrary: body }, fc.jsonValue());

async function expectOrder(method: 'POST' | 'PATCH', path: string, body: unknown): Promise<void> {
  const before = await server.keys.get(target.key.id);
  const reply = await server.server.send(method, path, JSON.stringify(body), admin.headers);
  if (reply.status < 300) return;
  expectRefusal(reply.status, reply.text);
  expect(await server.keys.get(target.key.id)).toEqual(before);
}

describe('never a 5xx', () => {
  it.each([
    ['POST', '/admin/v1/keys', keyBody],
    ['PATCH', '/admin/v1/keys/TARGET', keyBody],
    ['POST', '/admin/v1/prices', priceBody],
    ['POST', '/admin/v1/models', modelBody],
    [
      'POST',
      '/admin/v1/keys/TARGET/rotate',
      fc.record({ overlap_seconds: fc.oneof(fc.double(), fc.integer()) }, optional),
    ],
  ] as const)('for %s %s', async (method, path, body) => {
    await fc.assert(
      fc.asyncProperty(anything(body), (given) => expectOrder(method, path.replace('TARGET', target.key.id), given)),
      { numRuns: 200 },
    );
  });

  it.each([
    '/admin/v1/keys',
    '/admin/v1/prices/history',
    '/admin/v1/usage',
    '/admin/v1/requests',
    '/admin/v1/audit',
    '/ai/v1/usage',
  ])('for GET %s', async (path) => {
    const name = fc.constantFrom('from', 'to', 'group_by', 'key', 'model', 'endpoint', 'limit', 'cursor', 'format');
    const value = fc.oneof(fc.constantFrom('2026-11-01', 'model,day', '1', '1.a', 'csv', 'key_0'), fc.string());
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(name, value), { maxLength: 3 }), async (pairs) => {
        const query = new URLSearchParams(pairs as [string, string][]).toString();
        const { status, text } = await server.get(`${path}?${query}`, admin);
        if (status !== 200) expectRefusal(status, text);
      }),
      { numRuns: 100 },
    );
  });
});
