// A server told to stop while chat streams run, with and without their clients: every call has its row when the process
// has ended.

import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SqliteMoneyStore } from '../money/money-store.ts';
import { deltaChunk, event, startStream, USAGE_CHUNK } from '../upstream/upstream-answers.ts';
import { UpstreamDouble } from '../upstream/upstream-double.ts';
import { ServerProcess } from './server-process.ts';

const KEY = 'a-fixed-key-for-this-test';
const TINY_MODEL = join(import.meta.dirname, '..', 'fixtures', 'tiny-embedding');
const ROWS =
  'SELECT end_type, status, error_code, is_estimated, output_tokens, cost_pico_usd FROM ledger ORDER BY end_type';
/** What 9 tokens of input and 3 of output cost. */
const WHOLE_COST = 9n * 1000n + 3n * 2000n;

let store: SqliteMoneyStore;
let upstream: UpstreamDouble;
let server: ServerProcess;
/** Of each request so far: lets the upstream say the rest. */
let finish: (() => void)[];

beforeEach(async () => {
  store = new SqliteMoneyStore();
  finish = [];
  upstream = await UpstreamDouble.start((response) => {
    startStream(response);
    response.write(event(deltaChunk('Hello')));
    finish.push(() => response.end([deltaChunk(' there!', 'stop'), USAGE_CHUNK, '[DONE]'].map(event).join('')));
  });
});

afterEach(async () => {
  await server.dispose();
  await upstream.close();
  await store.dispose();
});

async function start(gracePeriodMs: number): Promise<void> {
  const model = { id: 'llama', inputMicroUsdPerMillionTokens: 1000, outputMicroUsdPerMillionTokens: 2000 };
  const { baseUrl } = upstream;
  server = new ServerProcess({
    ...store.settings,
    UMPIRE_API_KEY: KEY,
    UMPIRE_MODELS: TINY_MODEL,
    UMPIRE_HTTP_GRACE_PERIOD_MS: String(gracePeriodMs),
    UMPIRE_UPSTREAMS: JSON.stringify([{ name: 'double', baseUrl, whenClientLeaves: 'drain', models: [model] }]),
  });
  await server.ready();
}

/** @returns once the first chunk is there */
async function startStreaming(client: AbortController): Promise<ReadableStreamDefaultReader> {
  const messages = [{ role: 'user', content: 'Hi there' }];
  const reply = await fetch(`${await server.ready()}/ai/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'llama', stream: true, messages }),
    signal: client.signal,
  });
  const reader = reply.body?.getReader();
  if (reader === undefined) throw new Error('A stream without a body.');
  await reader.read();
  return reader;
}

/** @returns once the server knows that the client has left: its line of the request is in the log */
async function leave(client: AbortController): Promise<void> {
  client.abort();
  await server.waitFor(/"status":499/);
}

describe('a server that is told to stop', () => {
  it('waits for an upstream whose client has left, and bills its usage', async () => {
    await start(60_000);
    const client = new AbortController();
    await startStreaming(client);
    await leave(client);
    server.kill('SIGTERM');
    await server.waitFor(/stopping: finishing what was accepted/);
    expect(upstream.runningReplies).toBe(1);
    for (const say of finish) say();
    expect(await server.exited).toEqual({ code: 0, signal: null });
    expect(await store.query(ROWS)).toMatchObject([
      { end_type: 'client_left', status: 499n, cost_pico_usd: WHOLE_COST },
    ]);
  });

  it('cuts what is left when its time is over, and still writes every row', async () => {
    await start(500);
    const leaver = new AbortController();
    await startStreaming(leaver);
    const reader = await startStreaming(new AbortController());
    await leave(leaver);
    server.kill('SIGTERM');
    const rest = await readRest(reader);
    expect(rest).not.toContain('[DONE]');
    expect(await server.exited).toEqual({ code: 1, signal: null });
    expect(await store.query('SELECT id FROM reservations')).toEqual([]);
    expect(await store.query(ROWS)).toEqual([
      // Estimates of `Hi there` and `Hello`.
      expect.objectContaining({
        end_type: 'client_left',
        is_estimated: 1n,
        output_tokens: 2n,
        cost_pico_usd: 6000n + 4000n,
      }),
      expect.objectContaining({ end_type: 'failed', error_code: 'internal_error', cost_pico_usd: 0n }),
    ]);
    await upstream.until(() => upstream.openConnections === 0);
  });
});

/** Until the end of the stream or of its connection. */
async function readRest(reader: ReadableStreamDefaultReader): Promise<string> {
  let text = '';
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read())
      text += Buffer.from(read.value).toString();
  } catch {
    // The connection ended first.
  }
  return text;
}
