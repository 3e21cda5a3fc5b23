// HttpChatUpstream against a real HTTP server: streams, their ends, their pace.

import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { turns, until } from '../waiting/until.ts';
import {
  answerNothing,
  chunk,
  completion,
  cutAfter,
  deltaChunk,
  event,
  HELLO_CHUNKS,
  replyJson,
  stallAfter,
  startStream,
  streamChunks,
  streamEndlessly,
  streamRaw,
  streamText,
  USAGE,
  USAGE_CHUNK,
} from './upstream-answers.ts';
import type { AnswerScript } from './upstream-double.ts';
import { ask, askStream, collect, failureOf, STAYS, startUpstream, timeouts } from './upstream-fixture.ts';

describe('a stream', () => {
  it('asks for usage in any case and hides it from a client that did not ask', async () => {
    const { double, upstream } = await startUpstream(streamChunks());
    const stream = await upstream.stream(askStream(), STAYS);
    expect(await collect(stream)).toEqual(HELLO_CHUNKS.map((hello) => ({ ...hello, model: 'llama' })));
    expect(stream.tokens().usage).toMatchObject({ inputTokens: 9, outputTokens: 3 });
    expect(double.lastRequest.json.stream_options).toEqual({ include_usage: true });
  });

  it('ends with usage for a client that asked', async () => {
    const { upstream } = await startUpstream(streamChunks());
    const chunks = await collect(await upstream.stream(askStream(true), STAYS));
    expect(chunks.at(-1)).toEqual({ ...USAGE_CHUNK, model: 'llama' });
  });

  it('ends with usage even where the upstream told it earlier', async () => {
    const early = chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: USAGE });
    const { upstream } = await startUpstream(streamChunks([early, chunk({ choices: [] })]));
    const chunks = await collect(await upstream.stream(askStream(true), STAYS));
    expect(chunks.at(-1)).toEqual(chunk({ model: 'llama', choices: [], usage: USAGE }));
  });

  it.each([
    ['nothing', [chunk({ choices: [] })]],
    ['null', [chunk({ choices: [], usage: null })]],
    ['numbers that cannot be', [chunk({ choices: [], usage: { prompt_tokens: 9, completion_tokens: -3 } })]],
    ['nothing, with the last of its words last', []],
  ])('ends with an estimated usage, which is marked, where the upstream tells %s', async (_what, last) => {
    const { upstream } = await startUpstream(streamChunks([...HELLO_CHUNKS, ...last]));
    const request = askStream(true);
    const stream = await upstream.stream(request, STAYS);
    const chunks = await collect(stream);
    const { usage, outputEstimate } = stream.tokens();
    const { inputTokens } = upstream.expect(request);
    expect(usage).toBeUndefined();
    expect(Math.min(inputTokens, outputEstimate)).toBeGreaterThan(0);
    expect(chunks.at(-1)).toEqual({
      ...chunk({ model: 'llama', choices: [] }),
      usage: {
        prompt_tokens: inputTokens,
        completion_tokens: outputEstimate,
        total_tokens: inputTokens + outputEstimate,
      },
      'x-umpire-usage': 'estimated',
    });
    expect(chunks.slice(0, -1).every((sent) => !('x-umpire-usage' in (sent as object)))).toBe(true);
  });

  it('ends with the last usage that can be believed', async () => {
    const told = chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: USAGE });
    const wrong = chunk({ choices: [], usage: { prompt_tokens: -1, completion_tokens: 3 } });
    const { upstream } = await startUpstream(streamChunks([told, wrong]));
    const chunks = await collect(await upstream.stream(askStream(true), STAYS));
    expect(chunks.at(-1)).toEqual(chunk({ model: 'llama', choices: [], usage: USAGE }));
  });

  it('ends with usage even where it has no words', async () => {
    const { upstream } = await startUpstream(streamChunks([]));
    const chunks = await collect(await upstream.stream(askStream(true), STAYS));
    expect(chunks).toEqual([
      expect.objectContaining({
        object: 'chat.completion.chunk',
        model: 'llama',
        choices: [],
        usage: expect.objectContaining({ completion_tokens: 0 }),
        'x-umpire-usage': 'estimated',
      }),
    ]);
  });

  it('that tells no usage says nothing of it to a client that did not ask', async () => {
    const { upstream } = await startUpstream(streamChunks(HELLO_CHUNKS));
    const chunks = await collect(await upstream.stream(askStream(), STAYS));
    expect(chunks).toEqual(HELLO_CHUNKS.map((hello) => ({ ...hello, model: 'llama' })));
  });

  it('keeps the client’s other stream options, and strips usage out of chunks that say more', async () => {
    const last = chunk({ choices: [{ index: 0, delta: { content: '!' }, finish_reason: 'stop' }], usage: USAGE });
    const { double, upstream } = await startUpstream(streamChunks([chunk({ choices: [], usage: null }), last]));
    const request = ask(
      { stream: true, stream_options: { include_usage: false, include_obfuscation: false } },
      { stream: true },
    );
    const chunks = await collect(await upstream.stream(request, STAYS));
    expect(double.lastRequest.json.stream_options).toEqual({ include_usage: true, include_obfuscation: false });
    expect(chunks).toHaveLength(2);
    for (const sent of chunks) expect(sent).not.toHaveProperty('usage');
  });

  it('arrives whole however its bytes are cut', async () => {
    const text = streamText([...HELLO_CHUNKS, deltaChunk('Grüße 🎉 \u2028 end'), USAGE_CHUNK]).replaceAll('\n', '\r\n');
    const bytes = Buffer.from(`: comment\r\n\r\n${text}`);
    const { upstream } = await startUpstream(async (response) => {
      startStream(response);
      for (const byte of bytes) {
        await new Promise<void>((resolve) => response.write(Buffer.of(byte), () => resolve()));
      }
      response.end();
    });
    const chunks = await collect(await upstream.stream(askStream(), STAYS));
    expect(chunks.at(-1)).toEqual({ ...deltaChunk('Grüße 🎉 \u2028 end'), model: 'llama' });
    expect(chunks).toHaveLength(HELLO_CHUNKS.length + 1);
  });

  it('takes events of several lines and of any size up to a bound', async () => {
    const long = 'x'.repeat(1_000_000);
    const lines = 'data: {"choices":[],\ndata: "a":1}\n\n';
    const { upstream } = await startUpstream(streamRaw(lines + event(deltaChunk(long, 'stop'))));
    const chunks = await collect(await upstream.stream(askStream(), STAYS));
    expect(chunks).toEqual([
      { choices: [], a: 1, model: 'llama' },
      { ...deltaChunk(long, 'stop'), model: 'llama' },
    ]);
  });

  it('with an event over the bound is upstream_error', async () => {
    const piece = 'x'.repeat(1_000_000);
    const { double, upstream } = await startUpstream(async (response) => {
      startStream(response);
      response.write('data: ');
      while (response.writable) await new Promise((resolve) => response.write(piece, resolve));
    });
    const error = await failureOf(upstream.stream(askStream(), STAYS).then(collect));
    expect(error).toMatchObject({ code: 'upstream_error', message: 'The upstream sent an event that is too long.' });
    await double.until(() => double.openConnections === 0);
  });

  it('is handed over at once, before its first chunk', async () => {
    const { double, upstream } = await startUpstream(stallAfter([]));
    const client = new AbortController();
    const stream = await upstream.stream(askStream(), client.signal);
    client.abort(new Error('left'));
    await expect(collect(stream)).rejects.toThrow('left');
    await double.until(() => double.openConnections === 0);
  });

  it('without [DONE] is complete if its last choice was', async () => {
    const { upstream } = await startUpstream(streamRaw(HELLO_CHUNKS.map(event).join('')));
    expect(await collect(await upstream.stream(askStream(), STAYS))).toHaveLength(HELLO_CHUNKS.length);
  });

  it.each([
    ['broken in mid-stream', cutAfter(HELLO_CHUNKS.slice(0, 2))],
    ['ended in mid-answer', streamRaw(event(HELLO_CHUNKS[1]))],
    ['with a chunk that is no JSON', streamChunks([...HELLO_CHUNKS.slice(0, 2), '{oops'])],
    ['with an error in it', streamChunks([...HELLO_CHUNKS.slice(0, 2), { error: { message: 'private' } }])],
    ['with an error event', streamRaw(`${event(HELLO_CHUNKS[1])}event: error\n${event('private')}`)],
  ] satisfies [string, AnswerScript][])('%s gives what came and then upstream_error', async (_name, answer) => {
    const { upstream } = await startUpstream(answer);
    const stream = await upstream.stream(askStream(), STAYS);
    const seen: string[] = [];
    const reading = (async () => {
      for await (const { json } of stream.chunks) seen.push(json);
    })();
    const error = await failureOf(reading);
    expect(error.code).toBe('upstream_error');
    expect(error.message).not.toContain('private');
    expect(seen.length).toBeGreaterThan(0);
  });

  it('that is no stream is upstream_error', async () => {
    const { upstream } = await startUpstream(replyJson(completion()));
    expect((await failureOf(upstream.stream(askStream(), STAYS))).code).toBe('upstream_error');
  });

  it('whose head does not come is upstream_timeout before anything is handed over', async () => {
    const { double, upstream } = await startUpstream(answerNothing, timeouts({ firstByteMs: 50 }));
    expect((await failureOf(upstream.stream(askStream(), STAYS))).code).toBe('upstream_timeout');
    await double.until(() => double.openConnections === 0);
  });

  it('whose first byte does not come is upstream_timeout', async () => {
    const { double, upstream } = await startUpstream(stallAfter([]), timeouts({ firstByteMs: 1000 }));
    const stream = await upstream.stream(askStream(), STAYS);
    expect((await failureOf(collect(stream))).code).toBe('upstream_timeout');
    await double.until(() => double.openConnections === 0);
  });

  it('that falls silent is upstream_timeout', async () => {
    const { double, upstream } = await startUpstream(stallAfter([HELLO_CHUNKS[1]]), timeouts({ idleMs: 50 }));
    expect((await failureOf(upstream.stream(askStream(), STAYS).then(collect))).message).toMatch(/fell silent/);
    await double.until(() => double.openConnections === 0);
  });

  it('that never ends is upstream_timeout', async () => {
    const { double, upstream } = await startUpstream(streamEndlessly('x'), timeouts({ streamTotalMs: 300 }));
    expect((await failureOf(upstream.stream(askStream(), STAYS).then(collect))).message).toMatch(/whole request/);
    await double.until(() => double.openConnections === 0);
  });

  it('is read no faster than it is taken, and a slow client is not the upstream’s silence', async () => {
    let written = 0;
    const script = streamEndlessly('x'.repeat(10_000), (bytes) => {
      written = bytes;
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { double, upstream } = await startUpstream(script, timeouts({ idleMs: 300 }));
    const client = new AbortController();
    const stream = await upstream.stream(askStream(), client.signal);
    const chunks = stream.chunks[Symbol.asyncIterator]();
    await chunks.next();
    // The client dawdles for longer than the idle limit: the writer must come to rest, and nothing must time out.
    await stillness(() => written);
    vi.advanceTimersByTime(400);
    await turns(10);
    expect(written).toBeLessThan(20_000_000);
    expect((await chunks.next()).done).toBe(false);
    await chunks.return?.();
    await double.until(() => double.openConnections === 0);
  });

  it('is cancelled when its reader leaves the loop', async () => {
    const { double, upstream } = await startUpstream(stallAfter([HELLO_CHUNKS[1]]));
    const stream = await upstream.stream(askStream(), STAYS);
    for await (const _chunk of stream.chunks) break;
    await double.until(() => double.openConnections === 0);
  });
});

/** Resolves when the value has not changed for many turns. */
async function stillness(read: () => number): Promise<void> {
  await until('the writer rests', async () => {
    const before = read();
    await turns(200);
    return read() === before;
  });
}
