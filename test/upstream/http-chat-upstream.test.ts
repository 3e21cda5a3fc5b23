// HttpChatUpstream against a real HTTP server: whole completions, refusals, limits, connections.

import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { HttpChatUpstream } from '../../src/upstream/http-chat-upstream.ts';
import { turns } from '../waiting/until.ts';
import { answerHello, answerNothing, completion, refuse, replyJson } from './upstream-answers.ts';
import type { AnswerScript } from './upstream-double.ts';
import {
  ask,
  askStream,
  chatUpstreamOptions,
  collect,
  failureOf,
  STAYS,
  startUpstream,
  timeouts,
} from './upstream-fixture.ts';

describe('a whole completion', () => {
  it('goes out under the upstream’s name and comes back under ours', async () => {
    const { double, upstream } = await startUpstream(answerHello);
    const { bodyText, usage } = await upstream.complete(ask(), STAYS);
    expect(JSON.parse(bodyText)).toEqual(completion({ model: 'llama' }));
    expect(usage).toEqual({ inputTokens: 9, outputTokens: 3, reasoningTokens: 0, cachedTokens: 0 });
    expect(double.lastRequest.path).toBe('/v1/chat/completions');
    expect(double.lastRequest.headers.authorization).toBe('Bearer upstream-secret');
    expect(double.lastRequest.json.model).toBe('vendor/llama-7b');
  });

  it('passes everything else through to the letter', async () => {
    const usage = '"usage":{"prompt_tokens":1,"completion_tokens":2,"more":3.0}';
    const { double, upstream } = await startUpstream((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(`{"model":"x","choices":[],"big":12345678901234567890,"one":1.0,${usage}}`);
    });
    const bodyText =
      '{"messages":[],"seed":12345678901234567890,"temperature":1.0,"__proto__":{"a":1},"model":"llama"}';
    const reply = await upstream.complete(ask({}, { bodyText }), STAYS);
    expect(double.lastRequest.text).toBe(bodyText.replace('"llama"', '"vendor/llama-7b"'));
    expect(reply.bodyText).toBe(`{"model":"llama","choices":[],"big":12345678901234567890,"one":1.0,${usage}}`);
    expect(reply.usage).toMatchObject({ inputTokens: 1, outputTokens: 2 });
  });

  it.each([
    ['null', '"usage":null'],
    ['nothing', '"id":"x"'],
    ['numbers that cannot be', '"usage":{"prompt_tokens":-1,"completion_tokens":2}'],
  ])('has an estimated usage, which is marked, where the upstream tells %s', async (_what, told) => {
    const { upstream } = await startUpstream((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(`{"choices":[{"index":0,"message":{"role":"assistant","content":"Hello there!"}}],${told}}`);
    });
    const request = ask();
    const reply = await upstream.complete(request, STAYS);
    const { inputTokens } = upstream.expect(request);
    expect(reply.usage).toBeUndefined();
    expect(Math.min(inputTokens, reply.outputEstimate)).toBeGreaterThan(0);
    expect(JSON.parse(reply.bodyText)).toMatchObject({
      usage: {
        prompt_tokens: inputTokens,
        completion_tokens: reply.outputEstimate,
        total_tokens: inputTokens + reply.outputEstimate,
      },
      'x-umpire-usage': 'estimated',
    });
  });

  it('reuses its connection', async () => {
    const { double, upstream } = await startUpstream(answerHello);
    for (let i = 0; i < 3; i++) {
      await upstream.complete(ask(), STAYS);
      await connectionIsFree();
      await collect(await upstream.stream(askStream(), STAYS));
      await connectionIsFree();
    }
    expect(double.connectionsSoFar).toBe(1);
  });

  it.each([
    ['is no JSON', replyJson('<html>')],
    ['is no object', replyJson([])],
    ['has no choices', replyJson({ model: 'x' })],
    ['is an error with status 200', replyJson({ error: { message: 'private', code: 'boom' } })],
    ['is cut', (response) => response.writeHead(200, { 'content-length': '100' }).write('{', () => response.destroy())],
    ['is a redirect', replyJson('', 302, { location: '/elsewhere' })],
    ['never comes because the connection ends', (response) => response.destroy()],
    ['is a server error', refuse(500, { message: 'private' })],
    ['says that our key is bad', refuse(401, { message: 'Incorrect API key: upstream-secret' })],
    ['says that our account may not', refuse(403, { message: 'private' })],
    ['says that the model is unknown', refuse(404, { message: 'private', code: 'model_not_found' })],
    ['says that the model is unknown with 400', refuse(400, { message: 'private', code: 'model_not_found' })],
    ['says that our account is empty', refuse(429, { message: 'private', code: 'insufficient_quota' })],
  ] satisfies [string, AnswerScript][])('that %s is upstream_error and tells nothing', async (_name, answer) => {
    const { upstream } = await startUpstream(answer);
    for (const call of [upstream.complete(ask(), STAYS), upstream.stream(askStream(), STAYS).then(collect)]) {
      const error = await failureOf(call);
      expect(error.code).toBe('upstream_error');
      expect(error.message).not.toMatch(/private|secret/);
      expect(String(error.cause)).not.toMatch(/private|secret/);
    }
  });

  it('over its time is upstream_timeout, and its connection is closed', async () => {
    const { double, upstream } = await startUpstream(answerNothing, timeouts({ totalMs: 50 }));
    const failure = await failureOf(upstream.complete(ask(), STAYS));
    expect(failure.code).toBe('upstream_timeout');
    expect(failure.message).toMatch(/whole request\. With "stream": true the answer comes as it is written\.$/);
    await double.until(() => double.openConnections === 0);
  });

  it('over its time in mid-body is upstream_timeout too', async () => {
    const { upstream } = await startUpstream(
      (response) => response.writeHead(200).write('{"choices":'),
      timeouts({ totalMs: 50 }),
    );
    expect((await failureOf(upstream.complete(ask(), STAYS))).code).toBe('upstream_timeout');
  });

  it.each([408, 504])('refused with %i says that a stream would help, unless it is one', async (status) => {
    const { upstream } = await startUpstream(refuse(status, { message: 'private' }));
    const [whole, streamed] = [
      await failureOf(upstream.complete(ask(), STAYS)),
      await failureOf(upstream.stream(askStream(), STAYS)),
    ];
    expect([whole.code, streamed.code]).toEqual(['upstream_timeout', 'upstream_timeout']);
    expect(whole.message).toContain('"stream": true');
    expect(streamed.message).not.toContain('"stream"');
  });

  it('is cancelled when the client leaves', async () => {
    const { double, upstream } = await startUpstream(answerNothing);
    const client = new AbortController();
    const call = upstream.complete(ask(), client.signal);
    await double.until(() => double.requests.length === 1);
    client.abort(new Error('left'));
    await expect(call).rejects.toThrow('left');
    await double.until(() => double.openConnections === 0);
  });
});

describe('a refusal that is the caller’s mistake', () => {
  it.each([
    [400, 'invalid_request'],
    [422, 'invalid_request'],
    [413, 'request_too_large'],
  ])('with status %i is %s with the upstream’s message', async (status, code) => {
    const said = { message: 'messages[0].content is bad for vendor/llama-7b', param: 'messages[0].content' };
    const { upstream } = await startUpstream(refuse(status, said));
    for (const call of [upstream.complete(ask(), STAYS), upstream.stream(askStream(), STAYS)]) {
      const error = await failureOf(call);
      expect(error).toMatchObject({
        code,
        message: 'messages[0].content is bad for llama',
        param: 'messages[0].content',
        quotesCaller: true,
      });
    }
  });

  it.each([
    [{ error: { message: 'Too long.', code: 'context_length_exceeded' } }, 'context_length_exceeded', 'Too long.'],
    [
      { error: { message: 'the maximum context length is 8' } },
      'context_length_exceeded',
      'the maximum context length is 8',
    ],
    [{ object: 'error', message: 'Flat.' }, 'invalid_request', 'Flat.'],
    [{ error: 'Text.' }, 'invalid_request', 'Text.'],
    [{ detail: 'Detail.' }, 'invalid_request', 'Detail.'],
    [{ detail: [{ loc: ['body'], msg: 'Field.', input: 'private' }] }, 'invalid_request', 'Field.'],
    ['no JSON at all', 'invalid_request', 'The upstream refused the request as invalid.'],
  ])('is read out of %j', async (body, code, message) => {
    const { upstream } = await startUpstream(replyJson(body, 400));
    expect(await failureOf(upstream.complete(ask(), STAYS))).toMatchObject({ code, message });
  });

  it('never repeats our key', async () => {
    const { upstream } = await startUpstream(refuse(400, { message: 'You sent upstream-secret\nto us' }));
    expect((await failureOf(upstream.complete(ask(), STAYS))).message).toBe('You sent … to us');
  });
});

describe('a limit of the upstream', () => {
  it.each([
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after-ms': '250', 'retry-after': '7' }, 250],
    [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' }, 0],
    [{}, 1000],
  ])('is overloaded, with the time of %j', async (headers, retryAfterMs) => {
    const { upstream } = await startUpstream(refuse(429, { message: 'Slow down' }, headers));
    expect(await failureOf(upstream.complete(ask(), STAYS))).toMatchObject({ code: 'overloaded', retryAfterMs });
  });

  it('that says when to come back after a 503 is passed on', async () => {
    const { upstream } = await startUpstream(refuse(503, {}, { 'retry-after': '3' }));
    expect(await failureOf(upstream.complete(ask(), STAYS))).toMatchObject({
      code: 'upstream_error',
      retryAfterMs: 3000,
    });
  });

  it('of our own refuses more requests at once than are allowed', async () => {
    const { double, upstream } = await startUpstream(answerNothing, { maxConcurrentRequests: 2 });
    const client = new AbortController();
    const calls = [upstream.complete(ask(), client.signal), upstream.stream(askStream(), client.signal)];
    const ends = Promise.allSettled(calls);
    await double.until(() => double.requests.length === 2);
    expect((await failureOf(upstream.complete(ask(), STAYS))).code).toBe('overloaded');
    client.abort(new Error('left'));
    await ends;
    double.answer = answerHello;
    await upstream.complete(ask(), STAYS);
  });
});

describe('a connection', () => {
  it('that cannot be made is upstream_error', async () => {
    const upstream = new HttpChatUpstream(chatUpstreamOptions('http://127.0.0.1:1/v1'));
    onTestFinished(() => upstream.close());
    const error = await failureOf(upstream.complete(ask(), STAYS));
    expect(error.code).toBe('upstream_error');
    expect(error.message).not.toMatch(/127|\d{4}/);
  });

  it('that does not come to stand is upstream_timeout', async () => {
    const upstream = await startMuteTls({ connectMs: 100 });
    expect((await failureOf(upstream.complete(ask(), STAYS))).code).toBe('upstream_timeout');
  });

  it('that does not come to stand is not waited for by a client that leaves', async () => {
    const upstream = await startMuteTls({ connectMs: 5000 });
    const client = new AbortController();
    const call = upstream.complete(ask(), client.signal);
    client.abort(new Error('left'));
    // Had it waited, it would say that the upstream took too long.
    await expect(call).rejects.toThrow('left');
  });

  it('kept alive that the upstream has reset meanwhile is replaced once, unseen', async () => {
    let resets = 0;
    const { double, upstream } = await startUpstream(answerHello);
    await upstream.complete(ask(), STAYS);
    await connectionIsFree();
    double.answer = (response, request) => {
      if (resets++ === 0) response.socket?.resetAndDestroy();
      else answerHello(response, request);
    };
    await upstream.complete(ask(), STAYS);
    expect(resets).toBe(2);
    expect(double.connectionsSoFar).toBe(2);
  });

  it('that is new and reset is not tried again', async () => {
    const { double, upstream } = await startUpstream((response) => response.socket?.resetAndDestroy());
    expect((await failureOf(upstream.complete(ask(), STAYS))).code).toBe('upstream_error');
    expect(double.requests).toHaveLength(1);
  });

  it('reset after the answer has begun is not tried again', async () => {
    const { double, upstream } = await startUpstream(answerHello);
    await upstream.complete(ask(), STAYS);
    await connectionIsFree();
    double.answer = (response) => response.socket?.write('HTTP/1.1 2', () => response.socket?.resetAndDestroy());
    expect((await failureOf(upstream.complete(ask(), STAYS))).code).toBe('upstream_error');
    expect(double.requests).toHaveLength(2);
  });
});

/** Takes connections, and never answers the TLS handshake. */
async function startMuteTls(changes: Parameters<typeof timeouts>[0]): Promise<HttpChatUpstream> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const upstream = new HttpChatUpstream(chatUpstreamOptions(`https://127.0.0.1:${port}/v1`, timeouts(changes)));
  const sockets: Socket[] = [];
  server.on('connection', (socket) => sockets.push(socket));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
    await upstream.close();
  });
  return upstream;
}

/** The pool takes a connection back a few turns after the end of its reply. */
async function connectionIsFree(): Promise<void> {
  await turns(10);
}
