// A server somewhere else, over HTTP.

import type { ServerConnection } from './program.ts';

/** Longest a decision may take, loading excluded: more than the server's own deadlines. */
const TIMEOUT_MS = 120_000;

/** @param url the service's address, or a base address of its routes: with `/ai`, `/ai/v1` or `/v1` at its end */
export function connectToServer(url: string, apiKey: string | undefined): ServerConnection {
  const origin = url.replace(/\/+$/, '').replace(/(\/ai)?(\/v1)?$/, '');
  return {
    async post(path, body) {
      const headers = {
        'content-type': 'application/json',
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      };
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const reply = await fetch(`${origin}${path}`, { method: 'POST', headers, body, signal });
      return { status: reply.status, body: await reply.text() };
    },
    async close() {},
  };
}
