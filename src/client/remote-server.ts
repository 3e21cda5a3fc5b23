// A server somewhere else, over HTTP: connections are kept open, one request at a time on each.

import { Agent, request } from 'undici';
import { messageOf } from '../domain/errors.ts';
import type { ReplyHeaders, ServerConnection } from './server-connection.ts';

const CONNECT_MS = 10_000;
/** Longest a reply may take: more than the server's own deadlines. */
const TIMEOUT_MS = 120_000;

/** @param url the service's address, or a base address of its routes: with `/ai`, `/ai/v1` or `/v1` at its end */
export function connectToServer(url: string, apiKey: string | undefined): ServerConnection {
  const origin = url.replace(/\/+$/, '').replace(/(\/ai)?(\/v1)?$/, '');
  const dispatcher = new Agent({
    connect: { timeout: CONNECT_MS },
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
    pipelining: 1,
  });
  const always = {
    'content-type': 'application/json',
    ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
  };
  return {
    async post(path, body, headers = {}) {
      const options = { method: 'POST', headers: { ...always, ...headers }, body, dispatcher } as const;
      const reply = await request(`${origin}${path}`, options);
      return { status: reply.statusCode, body: await reply.body.text(), headers: flatten(reply.headers) };
    },
    close: () => dispatcher.close(),
  };
}

/** Why there was no reply, in a few words. */
export function describeLostReply(error: unknown): string {
  // Of a name with several addresses each has its own failure.
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0]);
  return messageOf(error);
}

function flatten(headers: Readonly<Record<string, string | string[] | undefined>>): ReplyHeaders {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value?.toString()]));
}
