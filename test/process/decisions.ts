// Decisions to send to a server process: short ones, and ones that keep a worker busy for a while.

import { until } from '../waiting/until.ts';
import type { ServerProcess } from './server-process.ts';

/** Some 4,300 tokens: long enough to be caught in the act. */
const LONG_DOCUMENT_WORDS = 2000;
/** However slow the machine: nothing is refused. */
export const PATIENT = { UMPIRE_ENGINE_QUEUE_DEADLINE_MS: '600000', UMPIRE_ENGINE_QUEUE_MAX_COST_MS: '6000000' };

const QUESTIONS = {
  department: {
    type: 'choice',
    instructions: 'Which team should handle this?',
    criteria: { billing: 'payments, refunds', technical: 'bugs, outages' },
  },
};

/** @param words of the document */
function decisionBody(words: number): string {
  const state = Array.from({ length: words }, (_, index) => (index % 7 === 0 ? 'invoice' : 'refund')).join(' ');
  return JSON.stringify({ model: 'kev', state, questions: QUESTIONS });
}

export interface Target {
  readonly address: string;
  readonly key: string;
}

export async function decide({ address, key }: Target, words: number): Promise<Response> {
  return await fetch(`${address}/ai/v1/systemone`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: decisionBody(words),
  });
}

/** Asks the server itself until it has that many requests in hand, its own answer to this question not counted. */
async function untilInFlight({ address }: Target, requests: number): Promise<void> {
  await until(`${requests} requests are in hand`, async () => {
    const metrics = await (await fetch(`${address}/metrics`)).text();
    const inFlight = Number(/^umpire_http_requests_in_flight (\d+)/m.exec(metrics)?.[1]);
    return inFlight - 1 >= requests;
  });
}

/** @param key of the configuration; without it the server has made one */
export async function targetOf(server: ServerProcess, key?: string): Promise<Target> {
  return { address: await server.ready(), key: key ?? server.initialKey() };
}

/** @returns once the server, which must be PATIENT, has all of these requests in hand and has answered none */
export async function startLongWork(server: ServerProcess, requests: number, key?: string) {
  const target = await targetOf(server, key);
  // Each has a document of its own: of the same one the server would run all at once.
  const replies = Array.from({ length: requests }, (_, index) => decide(target, LONG_DOCUMENT_WORDS + index));
  const early = Promise.race(replies).then(({ status }) => {
    throw new Error(`A reply with status ${status} came before all requests were in hand.`);
  });
  await Promise.race([untilInFlight(target, requests), early]);
  return { target, replies };
}
