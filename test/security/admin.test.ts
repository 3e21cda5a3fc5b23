// The admin routes, all that the server describes: closed to everybody without the scope, and deaf to SQL and other
// languages in whatever they take.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_KEY } from '../money/fleet.ts';
import { type MoneyStore, PostgresMoneyStore, SqliteMoneyStore } from '../money/money-store.ts';
import { PostgresServer } from '../postgres/postgres-server.ts';
import { type AdminOperation, bodiesWith, listAdminOperations } from './admin-operations.ts';
import { GuardedServer, type Reply } from './guarded-server.ts';

const HOSTILE = [
  `' OR '1'='1`,
  `'; DROP TABLE ledger; --`,
  `x"; DELETE FROM api_keys; --`,
  `1) UNION SELECT hash FROM api_key_secrets --`,
  '%',
  '__proto__',
  'constructor',
  `\u001b[2Jquokka\r\n{"level":"fatal"}`,
  '\u0000quokka',
  '\ud800quokka',
  '=cmd|quokka!A1',
  'q'.repeat(5000),
  '../../etc/passwd',
  '-1',
  '1e400',
];

let postgres: PostgresServer;
let server: GuardedServer;
let operations: AdminOperation[];

beforeAll(async () => {
  postgres = await PostgresServer.start();
});

afterAll(() => postgres.dispose());

const STORES: readonly (readonly [name: string, open: () => Promise<MoneyStore>])[] = [
  ['SQLite', async () => new SqliteMoneyStore()],
  ['PostgreSQL', () => PostgresMoneyStore.create(postgres)],
];

function startOn(open: () => Promise<MoneyStore>): void {
  beforeAll(async () => {
    server = await GuardedServer.start(await open());
    operations = await listAdminOperations(server);
  });

  afterAll(() => server.dispose());
}

/** @param id in the place of every parameter of the path */
function call(
  { method, path, example }: AdminOperation,
  secret: string | undefined,
  id = server.caller.id,
): Promise<Reply> {
  return server.call({ method, path: path.replaceAll(/\{\w+\}/g, encodeURIComponent(id)), secret, body: example });
}

describe.each(STORES)('admin routes on %s', (_name, open) => {
  startOn(open);

  it('are there', () => {
    const keys = ['GET /admin/v1/keys', 'POST /admin/v1/keys', 'PATCH /admin/v1/keys/{id}'];
    const routes = operations.map(({ method, path }) => `${method} ${path}`);
    expect(routes).toEqual(expect.arrayContaining([...keys, 'GET /admin/v1/usage', 'GET /admin/v1/audit']));
  });

  it('are closed to keys without the scope `admin`, and change nothing', async () => {
    const before = await server.countRows();
    for (const operation of operations) {
      const refused = await call(operation, server.caller.secret);
      expect([operation.path, refused.status, refused.json.error.code]).toEqual([
        operation.path,
        403,
        'insufficient_scope',
      ]);
    }
    expect(await server.countRows()).toEqual(before);
  });

  it.each([
    ['no key', undefined],
    ['an unknown key', 'ump_0000000000000000000000000000000000000000'],
    ['a word', 'admin'],
  ])('are closed to %s, and change nothing', async (_what, secret) => {
    const before = await server.countRows();
    for (const operation of operations) {
      const refused = await call(operation, secret);
      expect([operation.path, refused.status, refused.json.error.code]).toEqual([
        operation.path,
        401,
        'invalid_api_key',
      ]);
    }
    expect(await server.countRows()).toEqual(before);
  });

  it('say no more to a HEAD than to a GET', async () => {
    for (const operation of operations.filter(({ method }) => method === 'GET')) {
      const reply = await call({ ...operation, method: 'HEAD' }, server.caller.secret);
      expect([operation.path, reply.status, reply.text]).toEqual([operation.path, 403, '']);
    }
  });

  it('do not let a key raise itself', async () => {
    const patch = {
      method: 'PATCH',
      path: `/admin/v1/keys/${server.caller.id}`,
      body: { scopes: ['inference', 'admin'] },
    };
    expect((await server.call({ ...patch, secret: server.caller.secret })).status).toBe(403);
    for (const path of ['/ai/v1/../../admin/v1/keys', '/admin//v1/keys', '/ADMIN/v1/keys', '/admin/v1/keys/']) {
      expect([401, 403, 404]).toContain(
        (await server.call({ method: 'GET', path, secret: server.caller.secret })).status,
      );
    }
  });
});

describe.each(STORES)('hostile texts on %s', (_name, open) => {
  startOn(open);

  /** Refused as a mistake, or taken as the text it is. */
  function expectHarmless({ status, json, text }: Reply, what: string): void {
    expect(status, `${what}: ${text}`).toBeLessThan(500);
    expect(status, `${what}: ${text}`).toBeGreaterThanOrEqual(200);
    if (status >= 400) expect(json?.error?.code, what).toEqual(expect.any(String));
    if (status >= 400) expect(json.error.message, what).not.toMatch(/SELECT|DROP|quokka|qqqq|SQLITE|syntax error/);
  }

  it('do no harm in every parameter of every path and query', async () => {
    const before = await server.countRows();
    for (const { method, path, queryNames, example } of operations.filter(({ method }) => method === 'GET')) {
      for (const hostile of HOSTILE) {
        const text = encodeURIComponent(hostile.toWellFormed());
        const [plain, injected] = [path.replaceAll(/\{\w+\}/g, server.caller.id), path.replaceAll(/\{\w+\}/g, text)];
        const urls = [
          ...(plain === injected ? [] : [injected]),
          ...queryNames.map((name) => `${plain}?${name}=${text}`),
        ];
        for (const url of urls) {
          const reply = await server.call({ method, path: url, secret: ADMIN_KEY, body: example });
          expectHarmless(reply, `${method} ${url}`);
        }
      }
    }
    expect(await server.countRows()).toEqual(before);
  });

  it('do no harm in every path of what changes something', async () => {
    const before = await server.countRows();
    for (const operation of operations.filter(({ method, path }) => method !== 'GET' && path.includes('{'))) {
      for (const hostile of HOSTILE) {
        const reply = await call(operation, ADMIN_KEY, hostile.toWellFormed());
        expectHarmless(reply, `${operation.method} ${operation.path}`);
        expect(reply.status).toBeGreaterThanOrEqual(400);
      }
    }
    expect(await server.countRows()).toEqual(before);
  });

  it('do no harm in every field of every body', async () => {
    const before = await server.countRows();
    for (const operation of operations.filter(({ example }) => example !== undefined)) {
      for (const hostile of HOSTILE) {
        for (const example of bodiesWith(hostile, operation.example)) {
          expectHarmless(
            await call({ ...operation, example }, ADMIN_KEY),
            `${operation.path} ${JSON.stringify(example)}`,
          );
        }
      }
    }
    const after = await server.countRows();
    // Some were good names: keys were made, prices set. Nothing was deleted, and nobody was billed.
    for (const [table, rows] of Object.entries(before)) expect(after[table], table).toBeGreaterThanOrEqual(rows);
    expect(after['ledger']).toBe(before['ledger']);
    expect((await server.decide(server.caller.secret)).status).toBe(200);
  });

  it.each(HOSTILE.filter((text) => /^[ -~]+$/.test(text) && text.length < 200))(
    'as the name of a key are kept as they are: %s',
    async (name) => {
      const made = await server.administer('POST', '/keys', { name, models: [name] });
      expect(made.status).toBe(201);
      const kept = await server.administer('GET', `/keys/${made.json.id}`);
      expect(kept.json).toMatchObject({ name, models: [name] });
    },
  );

  it.each(['__proto__', 'constructor', 'toString'])('do no harm as a name of the body: %s', async (name) => {
    const body = `{"name":"a","${name}":{"scopes":["admin"]}}`;
    const { status, json } = await server.administer('POST', '/keys', body);
    expect([status, json.error.code]).toEqual([400, 'invalid_request']);
    expect(({} as { scopes?: unknown }).scopes).toBeUndefined();
  });

  it('given twice in a body are refused: neither is taken', async () => {
    const { status } = await server.administer(
      'POST',
      '/keys',
      '{"name":"a","scopes":["inference"],"scopes":["admin"]}',
    );
    expect(status).toBe(400);
  });

  it('in a cell of a CSV file do not run in a spreadsheet', async () => {
    const { id } = (await server.administer('POST', '/keys', { name: '=cmd|quokka!A1' })).json;
    const { status, text } = await server.administer('GET', '/usage?format=csv&group_by=key');
    expect(status).toBe(200);
    for (const cell of text.split(/[,\r\n]+/)) expect(cell).not.toMatch(/^"?[=+@]/);
    expect(id).toMatch(/^key_/);
  });

  it('are in no line of the log', () => {
    for (const line of server.logLines()) {
      expect(JSON.stringify(line)).not.toMatch(/quokka|DROP TABLE|api_key_secrets|\\u001b/);
      expect(line['level']).not.toBe('fatal');
      expect(line['level']).not.toBe('error');
    }
  });
});
