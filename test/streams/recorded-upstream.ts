// A chat upstream as a program of its own: it says what each request's plan tells it to say, and keeps what it came to.
// Talks to who started it over the channel of its parent; who that is, recorded-upstream-process.ts knows.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { chunk, deltaChunk, event, startStream } from '../upstream/upstream-answers.ts';
import type { UpstreamRecord, UpstreamRequest } from './recorded-upstream-process.ts';
import { type UpstreamPlan, WORD } from './stream-order.ts';

const ABSURD = 5_000_000_000;

const records: UpstreamRecord[] = [];
const sockets = new Set<Socket>();
let running = 0;
const waiting: (() => boolean)[] = [];

const server = createServer((request, response) => void receive(request, response));
server.on('connection', (socket) => {
  sockets.add(socket);
  socket.once('close', () => {
    sockets.delete(socket);
    look();
  });
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));

process.on('message', ({ id, ask }: UpstreamRequest) => {
  const answers: Readonly<Record<UpstreamRequest['ask'], () => boolean>> = {
    records: () => true,
    quiet: () => running === 0,
    lonely: () => sockets.size === 0,
  };
  waiting.push(() => {
    const isSo = answers[ask]();
    if (isSo) process.send?.({ id, records: ask === 'records' ? records : [] });
    return isSo;
  });
  look();
});

function look(): void {
  for (const answer of waiting.splice(0)) if (!answer()) waiting.push(answer);
}

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let plan: UpstreamPlan;
  try {
    ({ plan } = (await json(request)) as { plan: UpstreamPlan });
  } catch {
    return; // The server cut this one while it was sending.
  }
  const record = { id: plan.id, texts: 0, saidAll: false };
  records.push(record);
  running += 1;
  response.once('close', () => {
    running -= 1;
    look();
  });
  await say(plan, record, response);
}

async function say(plan: UpstreamPlan, record: UpstreamRecord, response: ServerResponse): Promise<void> {
  if (plan.headMs > 0) await pause(plan.headMs);
  if (response.destroyed) return;
  startStream(response);
  response.write(event(deltaChunk('')));
  for (let text = 1; text <= plan.texts && plan.breaksAfter !== text - 1; text++) {
    if (response.destroyed) return;
    record.texts = text;
    response.write(event({ ...deltaChunk(WORD), ...(plan.usage === 'running' ? { usage: usageOf(plan, text) } : {}) }));
    if (text === 1 && plan.usage === 'early') response.write(event(chunk({ choices: [], usage: usageOf(plan) })));
    if (text % plan.burst === 0) await pause(plan.pauseMs);
  }
  if (response.destroyed) return;
  if (plan.breaksAfter !== null) {
    response.destroy();
    return;
  }
  record.saidAll = true;
  response.write(event(deltaChunk('', 'stop')));
  if (['zero', 'end', 'absurd'].includes(plan.usage)) {
    response.write(event(chunk({ choices: [], usage: usageOf(plan) })));
  }
  response.end(event('[DONE]'));
}

function usageOf({ usage, ...plan }: UpstreamPlan, texts = 0): object {
  if (usage === 'zero') return { prompt_tokens: 0, completion_tokens: 0 };
  if (usage === 'absurd') return { prompt_tokens: plan.promptTokens, completion_tokens: ABSURD };
  return {
    prompt_tokens: plan.promptTokens,
    completion_tokens: usage === 'running' ? texts : plan.completionTokens,
    prompt_tokens_details: { cached_tokens: plan.cachedTokens },
  };
}
