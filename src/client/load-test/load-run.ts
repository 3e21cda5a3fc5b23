// The two loops of a load test. Closed: each of n clients sends its next request when it has its answer. Open: requests are
// due at moments that nothing changes, and their time runs from the moment they were due, so that a server or a client that
// falls behind hides nothing.

import type { PaceClock } from '../pace.ts';
import { findRetryAfterMs } from '../patient-asker.ts';
import { describeLostReply } from '../remote-server.ts';
import type { ServerConnection } from '../server-connection.ts';
import { readWireError } from '../wire-error.ts';

export interface LoadRequest {
  readonly path: string;
  readonly body: string;
}

/** One request of a load test. Milliseconds from its begin. */
export interface LoadOutcome {
  /** When it was due; of a closed loop when it was sent. */
  readonly dueMs: number;
  readonly sentMs: number;
  readonly endMs: number;
  /** 0: no reply. */
  readonly status: number;
  /** Of a reply that is no success, or why there is none; otherwise empty. */
  readonly code: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Dollars, as the server says; may be empty. */
  readonly costUsd: string;
  /** Answered from what the server had kept. */
  readonly isCached: boolean;
}

export interface LoadRunOptions {
  readonly server: ServerConnection;
  readonly next: () => LoadRequest;
  readonly clock: PaceClock;
  /** After it no request is sent. */
  readonly durationMs: number;
  readonly onOutcome: (outcome: LoadOutcome) => void;
  /** Ends it early. */
  readonly signal: AbortSignal;
}

/** Refused clients come back when they are told to, or after this. */
const REFUSED_PAUSE_MS = 1000;

/** Resolves when every request has ended. */
export async function runClosedLoop(options: LoadRunOptions, clients: number): Promise<void> {
  const { clock, durationMs, signal, onOutcome } = options;
  const beginMs = clock.nowMs();
  const runClient = async (): Promise<void> => {
    for (;;) {
      const nowMs = clock.nowMs() - beginMs;
      if (nowMs >= durationMs || signal.aborted) return;
      const { outcome, retryAfterMs } = await send(options, { dueMs: nowMs, beginMs });
      onOutcome(outcome);
      if (outcome.status === 200) continue;
      const pauseMs = Math.min(retryAfterMs ?? REFUSED_PAUSE_MS, Math.max(0, durationMs - outcome.endMs));
      await clock.pause(pauseMs, signal).catch(() => undefined);
    }
  };
  await Promise.all(Array.from({ length: clients }, runClient));
}

/** @param dueTimesMs from the begin, ascending. Resolves when every request has ended. */
export async function runOpenLoop(options: LoadRunOptions, dueTimesMs: Iterable<number>): Promise<void> {
  const { clock, signal, onOutcome } = options;
  const beginMs = clock.nowMs();
  const underWay = new Set<Promise<void>>();
  for (const dueMs of dueTimesMs) {
    // A timer may come a little early.
    const waitMs = (): number => beginMs + dueMs - clock.nowMs();
    for (let inMs = waitMs(); inMs > 0 && !signal.aborted; inMs = waitMs()) {
      await clock.pause(inMs, signal).catch(() => undefined);
    }
    if (signal.aborted) break;
    const sent = send(options, { dueMs, beginMs }).then(({ outcome }) => onOutcome(outcome));
    underWay.add(sent);
    void sent.then(() => underWay.delete(sent));
  }
  await Promise.all(underWay);
}

/** A Poisson process, as of callers who know nothing of each other: gaps are −ln(1 − u) ÷ rate. */
export function* arrivals(perSecond: number, durationMs: number, random: () => number): Generator<number> {
  const gapMs = (): number => (-Math.log(1 - random()) / perSecond) * 1000;
  for (let atMs = gapMs(); atMs < durationMs; atMs += gapMs()) yield atMs;
}

async function send({ server, next, clock }: LoadRunOptions, { dueMs, beginMs }: { dueMs: number; beginMs: number }) {
  const { path, body } = next();
  const sentMs = clock.nowMs() - beginMs;
  const begun = { dueMs, sentMs, inputTokens: 0, outputTokens: 0, costUsd: '', isCached: false };
  try {
    const reply = await server.post(path, body);
    const endMs = clock.nowMs() - beginMs;
    const { status, headers } = reply;
    if (status !== 200) {
      const code = readWireError(reply.body).code || `status ${status}`;
      return { outcome: { ...begun, endMs, status, code }, retryAfterMs: findRetryAfterMs(headers) };
    }
    const outcome: LoadOutcome = {
      ...begun,
      endMs,
      status,
      code: '',
      ...readTokens(reply.body),
      costUsd: headers['x-umpire-cost-usd'] ?? '',
      isCached: /^(hit|merged)$/.test(headers['x-umpire-cache'] ?? ''),
    };
    return { outcome, retryAfterMs: undefined };
  } catch (error) {
    const endMs = clock.nowMs() - beginMs;
    return { outcome: { ...begun, endMs, status: 0, code: describeLostReply(error) }, retryAfterMs: undefined };
  }
}

/** Of decisions, embeddings and chat, which name them differently. */
function readTokens(body: string): Pick<LoadOutcome, 'inputTokens' | 'outputTokens'> {
  const { usage = {} } = JSON.parse(body) as { usage?: Readonly<Record<string, number>> };
  return {
    inputTokens: usage['input_tokens'] ?? usage['prompt_tokens'] ?? 0,
    outputTokens: usage['output_tokens'] ?? usage['completion_tokens'] ?? 0,
  };
}
