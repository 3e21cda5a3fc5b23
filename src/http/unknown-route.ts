// Requests that no route takes: 405 with `Allow` where the path exists under another method, otherwise 404 with the route
// that may have been meant.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../domain/errors.ts';
import { NearRoutes } from './near-routes.ts';

/** Of all routes together. */
export const ALL_METHODS = 'GET, HEAD, PATCH, POST';

interface Pattern {
  readonly matches: RegExp;
  readonly method: string;
}

/** @throws AppError `not_found`, `method_not_allowed` */
export type RefuseUnknownRoute = (request: FastifyRequest, reply: FastifyReply) => never;

/** A handler that always throws. Call this before routes are added: it notes each of them. */
export function unknownRouteHandler(app: FastifyInstance): RefuseUnknownRoute {
  const patterns: Pattern[] = [];
  const nearRoutes = new NearRoutes();
  app.addHook('onRoute', ({ url, method, schema }) => {
    // Preflights are taken everywhere, which makes nothing a path.
    if (url === '*') return;
    const matches = patternOf(url);
    // Nobody who asks for a route means a page.
    const isOfApi = schema?.hide !== true;
    for (const name of [method].flat()) {
      patterns.push({ matches, method: name });
      if (isOfApi) nearRoutes.note(url, name);
    }
  });
  return (request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const methods = patterns.filter(({ matches }) => matches.test(path)).map(({ method }) => method);
    if (methods.length === 0) throw noSuchRoute(nearRoutes.find(path, request.method));
    const allowed = [...new Set(methods)].sort().join(', ');
    reply.header('allow', allowed);
    throw new AppError('method_not_allowed', `This route takes ${allowed} only.`);
  };
}

function noSuchRoute(near: string | undefined): AppError {
  const all = 'GET /openapi.json describes all of them.';
  if (near === undefined) return new AppError('not_found', `No such route. ${all}`);
  const bases = 'A base address ends in /ai/v1, or in /ai for a client that adds /v1 itself.';
  const message = ['No such route.', `Did you mean ${near}?`, ...(near.includes(' /ai/') ? [bases] : []), all];
  return new AppError('not_found', message.join(' '));
}

/** `/ai/v1/models/:id`, `/assets/*` → a pattern of paths */
function patternOf(url: string): RegExp {
  const escaped = url.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/:[^/]+/g, '[^/]+').replace('\\*', '.+')}$`);
}
