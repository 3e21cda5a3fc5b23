// The id of a request: the client's own when it is sane, otherwise ours. On every reply under both names that clients
// read.

import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const SANE_ID = /^[\x21-\x7e]{1,128}$/;

export function requestIdOf(request: Pick<IncomingMessage, 'headers'>): string {
  const own = request.headers['x-request-id'];
  return typeof own === 'string' && SANE_ID.test(own) ? own : newRequestId();
}

export function newRequestId(): string {
  return `req_${randomUUID()}`;
}

/** The decision SDKs read the second name. */
export function requestIdHeaders(id: string): Record<string, string> {
  return { 'x-request-id': id, 'x-typesafe-request-id': id };
}
