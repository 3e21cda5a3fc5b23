// The fuzzer itself: its cases can be made again, its judge sees what is wrong, and a short run of it finds nothing. Long
// runs are `npm run fuzz` and test/long/fuzz.test.ts.

import { describe, expect, it } from 'vitest';
import { CASE_KINDS, makeCase } from './cases.ts';
import { runFuzz } from './fuzz-run.ts';
import { readLog } from './fuzzed-server.ts';
import { judge } from './replies.ts';

const KEYS = { inference: 'ump_a', poor: 'ump_b', admin: 'ump_c', victimId: 'key_1' };
const ERROR = '{"error":{"message":"m","type":"server_error","param":null,"code":"overloaded"}}';

function reply(status: number, body: string, headers = ''): string {
  return `HTTP/1.1 ${status} X\r\nx-request-id: r\r\n${headers}content-length: ${body.length}\r\n\r\n${body}`;
}

describe('cases', () => {
  it('are the same for the same seed and number, whatever was made before', () => {
    const make = (number: number) => makeCase(7, number, CASE_KINDS, KEYS);
    const first = Array.from({ length: 300 }, (_, number) => make(number));
    const again = Array.from({ length: 300 }, (_, number) => make(299 - number)).reverse();
    expect(again).toEqual(first);
    expect(new Set(first.map(({ bytes }) => bytes.toString('base64'))).size).toBeGreaterThan(250);
    expect(new Set(first.map(({ kind }) => kind))).toEqual(new Set(CASE_KINDS));
    expect(makeCase(8, 0, CASE_KINDS, KEYS)).not.toEqual(first[0]);
  });
});

describe('the judge of replies', () => {
  it('takes one reply after another, cut ones and those to HEAD too', () => {
    const whole = reply(200, '{}') + reply(404, ERROR.replace('overloaded', 'not_found'));
    expect(judge(whole)).toEqual({ statuses: [200, 404], failures: [], faults: [] });
    expect(judge(reply(503, ERROR, 'retry-after: 1\r\n'))).toMatchObject({ failures: ['overloaded'], faults: [] });
    expect(judge(reply(200, '{"a":1}').slice(0, -3)).faults).toEqual([]);
    expect(judge(`HTTP/1.1 200 X\r\nx-request-id: r\r\ncontent-length: 9\r\n\r\n${reply(200, '')}`).statuses).toEqual([
      200, 200,
    ]);
    const chunked = 'HTTP/1.1 200 X\r\nx-request-id: r\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n';
    expect(judge(chunked + reply(200, '{}'))).toEqual({ statuses: [200, 200], failures: [], faults: [] });
  });

  it.each([
    ['a 500', reply(500, ERROR.replace('overloaded', 'internal_error'))],
    ['an error in another shape', reply(400, '{"message":"no"}')],
    ['a code that nobody knows', reply(400, ERROR.replace('overloaded', 'nope'))],
    ['a code with a status that is not its own', reply(502, ERROR, 'retry-after: 1\r\n')],
    ['a refusal that says not when to come back', reply(503, ERROR)],
    ['no request id', 'HTTP/1.1 200 X\r\ncontent-length: 0\r\n\r\n'],
    ['no HTTP', 'hello'],
  ])('finds %s', (_what, text) => {
    expect(judge(text).faults).toHaveLength(1);
  });
});

describe('the reading of the log', () => {
  it('finds faults, strange lines, secrets, texts and stalls', () => {
    const stall = { atMs: 1, lateMs: 40, waitMs: 10, runMs: 30 };
    const good = '{"level":"info","msg":"request"}';
    const lines = [
      '{"level":"error","msg":"internal error"}',
      '    at stack',
      `fuzz-stall ${JSON.stringify(stall)}`,
      good,
    ];
    const traces = { secrets: new Set(['secret']), texts: new Set(['Where is my parcel?']) };
    expect(readLog(lines.join('\n'), traces)).toEqual({
      stalls: [stall],
      faults: [expect.any(String), expect.any(String)],
    });
    for (const leaked of ['a secret', 'no room for "Where is my parcel?"']) {
      expect(readLog(JSON.stringify({ level: 'info', msg: leaked }), traces).faults).toHaveLength(1);
    }
  });
});

describe('a short run', () => {
  it('finds nothing', async () => {
    const options = {
      seed: 13,
      store: 'sqlite',
      seconds: 6,
      kinds: CASE_KINDS,
      cases: [],
      stallLimitMs: undefined,
    } as const;
    const { faults, cases, paid, statuses } = await runFuzz(options);
    expect(faults).toEqual([]);
    expect(cases).toBeGreaterThan(20);
    expect(paid.answered).toBeGreaterThan(0);
    expect(statuses.size).toBeGreaterThan(2);
  });
});
