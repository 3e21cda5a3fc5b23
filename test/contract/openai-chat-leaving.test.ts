// Clients of chat that leave or stall, and a server that stops: nothing is left running.

import { APIUserAbortError } from 'openai';
import { describe, expect, it } from 'vitest';
import { KEY } from '../application/test-server.ts';
import {
  answerNothing,
  deltaChunk,
  event,
  HELLO_CHUNKS,
  stallAfter,
  startStream,
  streamEndlessly,
} from '../upstream/upstream-answers.ts';
import { turns } from '../waiting/until.ts';
import { ASK, collect, failureOf, startChat } from './openai-chat-fixture.ts';

describe('a client that leaves', () => {
  it.each<[string, unknown[]]>([
    ['during a stream', [HELLO_CHUNKS[1]]],
    ['before the first chunk of a stream', []],
  ])('%s ends the upstream connection', async (_name, chunks) => {
    const { client, double } = await startChat(stallAfter(chunks));
    const stream = await client.chat.completions.create({ ...ASK, stream: true });
    const reading = collect(stream);
    stream.controller.abort();
    await reading.catch((error: unknown) => expect(error).toBeInstanceOf(APIUserAbortError));
    await double.until(() => double.openConnections === 0);
  });

  it('while waiting for a whole completion, or for a head, ends the upstream connection', async () => {
    const { client, double } = await startChat(answerNothing);
    for (const stream of [false, true]) {
      const controller = new AbortController();
      const call = client.chat.completions.create({ ...ASK, stream }, { signal: controller.signal });
      const before = double.requests.length;
      const ending = failureOf(call as PromiseLike<unknown>);
      await double.until(() => double.requests.length > before);
      controller.abort();
      expect(await ending).toBeInstanceOf(APIUserAbortError);
      await double.until(() => double.openConnections === 0);
    }
  });

  it('one of many ends its own upstream connection and no other', async () => {
    const { client, double } = await startChat(stallAfter([HELLO_CHUNKS[1]]));
    const streams = await Promise.all(
      Array.from({ length: 8 }, () => client.chat.completions.create({ ...ASK, stream: true })),
    );
    expect(double.openConnections).toBe(8);
    for (const [index, stream] of streams.entries()) {
      stream.controller.abort();
      await double.until(() => double.openConnections === 7 - index);
    }
  });

  it('as every third of many does, somewhere in its stream, leaves nothing running', async () => {
    const words = Array.from({ length: 20 }, (_, index) => deltaChunk(`${index} `, index === 19 ? 'stop' : null));
    const { client, double } = await startChat(async (response) => {
      startStream(response);
      for (const word of words) {
        if (!response.writable) return;
        response.write(event(word));
        await turns(1);
      }
      response.end(event('[DONE]'));
    });
    const one = async (index: number) => {
      const stream = await client.chat.completions.create({ ...ASK, stream: true });
      const stopAfter = index % 3 === 0 ? (index * 7) % 20 : words.length;
      let seen = 0;
      for await (const _chunk of stream) if (++seen > stopAfter) break;
      return seen === words.length || index % 3 === 0;
    };
    for (let batch = 0; batch < 10; batch++) {
      const ends = await Promise.all(Array.from({ length: 24 }, (_, index) => one(batch * 24 + index)));
      expect(ends).not.toContain(false);
    }
    await double.until(() => double.runningReplies === 0);
    expect(double.requests).toHaveLength(240);
  });

  it('is one that takes in nothing: it is disconnected, its upstream too', async () => {
    const { double, baseURL } = await startChat(streamEndlessly('x'.repeat(100_000)), {
      http: { writeTimeoutMs: 200 },
    });
    // A reader that is never pulled.
    const reply = await fetch(`${baseURL}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...ASK, stream: true }),
    });
    expect(reply.status).toBe(200);
    await double.until(() => double.openConnections === 0);
    await expect(reply.text()).rejects.toThrow();
  });
});

describe('a server that stops', () => {
  it('finishes the streams it has begun, and closes at once after them', async () => {
    const hold = Promise.withResolvers<() => void>();
    const { client, server, double } = await startChat((response) => {
      startStream(response);
      response.write(event(HELLO_CHUNKS[1]));
      hold.resolve(() => response.end(HELLO_CHUNKS.map(event).join('') + event('[DONE]')));
    });
    // Were an idle connection waited for, this test would never end.
    server.app.server.keepAliveTimeout = 600_000;
    const stream = await client.chat.completions.create({ ...ASK, stream: true });
    const closing = server.app.close();
    (await hold.promise)();
    expect(await collect(stream)).toHaveLength(HELLO_CHUNKS.length + 1);
    await closing;
    expect(double.runningReplies).toBe(0);
  });
});
