// Bodies of the admin routes: small, every name at most once. What the last of two equal names would say is not guessed
// where keys and money are changed.

import type { FastifyInstance } from 'fastify';
import { parseOrderedBody, parsePlainBody } from './json-body.ts';

const ADMIN_BODY_LIMIT_BYTES = 256 * 1024;

export function parseAdminBodies(api: FastifyInstance): void {
  api.removeAllContentTypeParsers();
  const options = { parseAs: 'buffer', bodyLimit: ADMIN_BODY_LIMIT_BYTES } as const;
  api.addContentTypeParser('application/json', options, async (_request: unknown, body: Buffer) => {
    // Some clients name a type even where there is nothing to send.
    if (body.length === 0) return undefined;
    parseOrderedBody(body);
    return parsePlainBody(body);
  });
}
