// What the reference at `/docs` needs beside its page: two files of Swagger UI, and a policy that lets them run.

import { readFile } from 'node:fs/promises';
import type { FastifyHelmetOptions } from '@fastify/helmet';
import { packWebFile, type WebFile } from './web-file.ts';

export const REFERENCE = '/docs';

/** Swagger UI draws with images in its styles, and sets HTML that it has cleaned of scripts: no trusted types. */
export function referencePolicy(policy: FastifyHelmetOptions): FastifyHelmetOptions {
  const { contentSecurityPolicy } = policy;
  if (typeof contentSecurityPolicy !== 'object') throw new Error('The pages have no policy.');
  const {
    requireTrustedTypesFor: _required,
    trustedTypes: _types,
    ...directives
  } = contentSecurityPolicy.directives ?? {};
  return {
    contentSecurityPolicy: { ...contentSecurityPolicy, directives: { ...directives, imgSrc: ["'self'", 'data:'] } },
  };
}

/** Address → a file that is read and packed when somebody first looks: 1.9 MB, which most servers never show. */
export const REFERENCE_FILES: ReadonlyMap<string, () => Promise<WebFile>> = new Map([
  [
    `${REFERENCE}/swagger-ui-bundle.js`,
    packedOnce(
      import.meta.resolve('@fastify/swagger-ui/static/swagger-ui-bundle.js'),
      'text/javascript; charset=utf-8',
    ),
  ],
  [
    `${REFERENCE}/swagger-ui.css`,
    packedOnce(import.meta.resolve('@fastify/swagger-ui/static/swagger-ui.css'), 'text/css; charset=utf-8'),
  ],
]);

function packedOnce(file: string, contentType: string): () => Promise<WebFile> {
  let packed: Promise<WebFile> | undefined;
  return () => {
    packed ??= readFile(new URL(file), 'utf8').then((text) => packWebFile(text, contentType));
    return packed;
  };
}
