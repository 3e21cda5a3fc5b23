// A request that is sent again whenever what it says changes: not at every key stroke, never two at a time, and an answer
// that is older than its question is dropped.

import { effect, type ReadonlySignal, signal } from '@preact/signals-core';
import { type ApiReply, callApi } from './call-api.ts';

export interface LiveRequest<Subject> {
  readonly key: string;
  readonly body: string;
  /** What the request was made from: kept beside its answer. */
  readonly subject: Subject;
}

export interface LiveAnswer<Subject> {
  readonly reply: ApiReply;
  readonly subject: Subject;
}

export interface LiveCall<Subject> {
  /** The last one that came; it stays while the next is under way. */
  readonly answer: ReadonlySignal<LiveAnswer<Subject> | undefined>;
  /** Why there is no newer one. */
  readonly error: ReadonlySignal<unknown>;
  readonly isAsking: ReadonlySignal<boolean>;
  /** Sends what there is, changed or not. */
  askNow(): void;
}

export interface LiveCallOptions<Subject> {
  readonly path: string;
  /** undefined: there is nothing to ask. */
  readonly request: ReadonlySignal<LiveRequest<Subject> | undefined>;
  /** Whether changes are sent by themselves. */
  readonly isLive: ReadonlySignal<boolean>;
}

const QUIET_MS = 300;

export function createLiveCall<Subject>({ path, request, isLive }: LiveCallOptions<Subject>): LiveCall<Subject> {
  const answer = signal<LiveAnswer<Subject> | undefined>();
  const error = signal<unknown>();
  const isAsking = signal(false);
  let underWay = new AbortController();
  let sentBody: string | undefined;

  async function send({ key, body, subject }: LiveRequest<Subject>): Promise<void> {
    underWay.abort();
    const own = new AbortController();
    underWay = own;
    sentBody = body;
    isAsking.value = true;
    const reply = await callApi(path, { key, body, signal: own.signal }).catch((failure: unknown) => {
      if (underWay !== own) return;
      error.value = failure;
      // Whoever comes back to it may hope for more.
      sentBody = undefined;
    });
    if (underWay !== own) return;
    isAsking.value = false;
    if (reply === undefined) return;
    error.value = undefined;
    answer.value = { reply, subject };
  }

  const askNow = (): void => {
    if (request.value !== undefined) void send(request.value);
  };

  let lastKey: string | undefined;
  effect(() => {
    const wanted = request.value;
    if (wanted === undefined || !isLive.value) return;
    if (wanted.body === sentBody && wanted.key === lastKey) return;
    lastKey = wanted.key;
    const timer = setTimeout(() => void send(wanted), QUIET_MS);
    return () => clearTimeout(timer);
  });
  return { answer, error, isAsking, askNow };
}
