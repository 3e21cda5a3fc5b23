// The routes of the pages. No key is needed for them: they hold nothing, and ask the API with the key of whoever looks.

import { negotiate } from '@fastify/accept-negotiator';
import helmet, { type FastifyHelmetOptions } from '@fastify/helmet';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../domain/errors.ts';
import { REFERENCE, REFERENCE_FILES, referencePolicy } from './reference.ts';
import { WEB_ENCODINGS, type WebEncoding, type WebFile } from './web-file.ts';
import { ASSETS_PREFIX, type WebFiles } from './web-files.ts';

/** Own files alone, none of them inline, nowhere to send a form, in no frame. */
const POLICY: FastifyHelmetOptions = {
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      connectSrc: ["'self'"],
      imgSrc: ["'self'"],
      frameAncestors: ["'none'"],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      requireTrustedTypesFor: ["'script'"],
      trustedTypes: ["'none'"],
    },
  },
  referrerPolicy: { policy: 'no-referrer' },
  frameguard: { action: 'deny' },
  // Whether a host speaks TLS, the proxy in front of it knows. Browsers complain of the other two where there is no TLS.
  strictTransportSecurity: false,
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
};

/** For a year: the address changes with the content. */
const FOREVER = 'public, max-age=31536000, immutable';
/** Kept, and checked each time. */
const CHECKED = 'no-cache';

/** Left out of `/openapi.json`. */
const HIDDEN = { hide: true };

export async function webRoutes(app: FastifyInstance, { pages, assets }: WebFiles): Promise<void> {
  await app.register(helmet, POLICY);
  const reference = { schema: HIDDEN, helmet: referencePolicy(POLICY) };
  for (const [address, page] of pages) {
    const options = address === REFERENCE ? reference : { schema: HIDDEN };
    app.get(address, options, async (request, reply) => sendWebFile(request, reply, page));
  }
  for (const [address, read] of REFERENCE_FILES)
    app.get(address, reference, async (request, reply) => sendWebFile(request, reply, await read()));
  app.get(`${ASSETS_PREFIX}*`, { schema: HIDDEN }, async (request, reply) => {
    const asset = assets.get(request.url.split('?', 1)[0] ?? '');
    if (asset === undefined) throw new AppError('not_found', 'No such file.');
    return sendWebFile(request, reply, asset, FOREVER);
  });
}

function sendWebFile(request: FastifyRequest, reply: FastifyReply, file: WebFile, caching = CHECKED): FastifyReply {
  const { 'accept-encoding': accepted, 'if-none-match': known } = request.headers;
  const encoding = chooseEncoding(accepted);
  // Two encodings are two things to a cache.
  const tag = `"${file.hash}-${encoding}"`;
  reply.headers({ etag: tag, 'cache-control': caching, vary: 'accept-encoding' });
  if (known?.includes(tag)) return reply.code(304).send();
  if (encoding !== 'identity') reply.header('content-encoding', encoding);
  return reply.type(file.contentType).send(file.bodies[encoding]);
}

function chooseEncoding(accepted: string | undefined): WebEncoding {
  const chosen = accepted === undefined ? null : negotiate(accepted, [...WEB_ENCODINGS]);
  return WEB_ENCODINGS.find((encoding) => encoding === chosen) ?? 'identity';
}
