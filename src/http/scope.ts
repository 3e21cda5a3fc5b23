// What a key may do at all: an `onRequest` hook that runs after authentication, so that a key without the scope learns
// nothing of the routes behind it.

import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import type { KeyScope } from '../domain/api-key.ts';
import { AppError } from '../domain/errors.ts';
import { keyOf } from './authenticate.ts';

/** The hook throws AppError `insufficient_scope`. */
export function scopeHook(scope: KeyScope) {
  return (request: FastifyRequest, _reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    const key = keyOf(request);
    if (key.scopes.includes(scope)) {
      done();
      return;
    }
    // Somebody with a valid key tries what is not theirs: worth more than the line that every request has.
    request.log.warn({ keyId: key.id, scope, method: request.method }, 'refused: the key lacks the scope');
    throw new AppError('insufficient_scope', `This key lacks the scope "${scope}".`);
  };
}
