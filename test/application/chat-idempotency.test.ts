// Chat with an `Idempotency-Key`: run and billed once, whoever leaves; a retry is given the first reply.

import { describe, expect, it } from 'vitest';
import { ASK, collect } from '../contract/openai-chat-fixture.ts';
import { answerHello, event, HELLO_CHUNKS, startStream, USAGE_CHUNK } from '../upstream/upstream-answers.ts';
import { cost, startBilledChat } from './billed-chat.ts';

const HEADERS = { 'idempotency-key': 'order-7' };

describe.each([false, true])('a retry of a chat call, streamed: %s', (stream) => {
  it('is given the same reply and is not asked of the upstream again', async () => {
    const { ask, ledger, double } = await startBilledChat(answerHello);
    const first = await ask({ stream }, { headers: HEADERS });
    const text = await first.text();
    const kept = ledger.settlements[0]?.reply;
    if (kept === null || kept === undefined) throw new Error('Nothing was kept.');
    ledger.reserveScript.push({ type: 'replay', reply: kept });
    const second = await ask({ stream }, { headers: HEADERS });
    expect(second.status).toBe(200);
    expect(await second.text()).toBe(text);
    expect(second.headers.get('content-type')).toBe(first.headers.get('content-type'));
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(second.headers.get('x-umpire-cost-usd')).toBe('0.000015');
    expect(first.headers.has('idempotent-replayed')).toBe(false);
    expect(double.requests).toHaveLength(1);
    expect(ledger.settlements).toHaveLength(1);
  });
});

describe('the official client', () => {
  it('reads a replayed stream as it reads any other', async () => {
    const { client, ledger, double } = await startBilledChat(answerHello);
    const stream = async () =>
      await collect(
        await client.chat.completions.create(
          { ...ASK, stream: true, stream_options: { include_usage: true } },
          { headers: { 'Idempotency-Key': 'order-8' } },
        ),
      );
    const first = await stream();
    const kept = ledger.settlements[0]?.reply;
    if (kept === null || kept === undefined) throw new Error('Nothing was kept.');
    ledger.reserveScript.push({ type: 'replay', reply: kept });
    expect(await stream()).toEqual(first);
    expect(first).toHaveLength(HELLO_CHUNKS.length + 1);
    expect(double.requests).toHaveLength(1);
  });
});

describe('a stream with an Idempotency-Key', () => {
  it('is read to its end when its client leaves, and kept whole for the retry', async () => {
    const goOn = Promise.withResolvers<() => void>();
    const { ask, row, ledger, server } = await startBilledChat((response) => {
      startStream(response);
      response.write(event(HELLO_CHUNKS[1]));
      goOn.resolve(() => response.end([...HELLO_CHUNKS.slice(2), USAGE_CHUNK, '[DONE]'].map(event).join('')));
    });
    const left = Promise.withResolvers<void>();
    server.app.server.once('connection', (socket) => socket.once('close', () => setImmediate(left.resolve)));
    const client = new AbortController();
    await ask({ stream: true }, { headers: HEADERS, signal: client.signal });
    const finish = await goOn.promise;
    client.abort();
    await left.promise;
    finish();
    expect(await row()).toMatchObject({ end: 'client_left', costPicoUsd: cost(9, 3), isEstimated: false });
    const sent = HELLO_CHUNKS.slice(1).map((chunk) => event({ ...chunk, model: 'llama' }));
    expect(ledger.settlements[0]?.reply?.body).toBe([...sent, event('[DONE]')].join(''));
  });

  it('that fails gives its claim up', async () => {
    const { ask, ledger } = await startBilledChat((response) => {
      startStream(response);
      response.write(event(HELLO_CHUNKS[1]), () => response.destroy());
    });
    await (await ask({ stream: true }, { headers: HEADERS })).text();
    expect(ledger.settlements).toHaveLength(1);
    expect(ledger.settlements[0]).not.toHaveProperty('reply');
  });
});
