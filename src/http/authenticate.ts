// Who is calling: reads the bearer token before the body is read, and keeps the key on the request. What a valid key
// is, the service decides.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiKey } from '../domain/api-key.ts';
import { AppError } from '../domain/errors.ts';
import { clientNetwork } from './client-address.ts';
import { ClientLeftError } from './client-left.ts';

export interface Authenticator {
  /** @param address of the caller's network @throws AppError `invalid_api_key` */
  authenticate(bearerToken: string, address: string): Promise<ApiKey>;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the authentication hook; null on routes that need no key. */
    apiKey: ApiKey | null;
  }
}

// Longer than any key we accept; a longer one is not worth hashing.
const MAX_TOKEN_LENGTH = 512;
const BEARER = /^Bearer +([\x21-\x7e]+) *$/i;

/** An `onRequest` hook: the body of a caller without a key is never read. */
export function authenticationHook(authenticator: Authenticator) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    // A connection that was reset has no address any more: whoever asked there is gone.
    if (request.socket.remoteAddress === undefined) throw new ClientLeftError();
    const span = request.span?.begin('authenticate');
    try {
      request.apiKey = await authenticator.authenticate(
        parseBearerToken(request.headers.authorization),
        clientNetwork(request.ip),
      );
      span?.end();
    } catch (error) {
      span?.end(error);
      if (error instanceof AppError && error.code === 'invalid_api_key') reply.header('www-authenticate', 'Bearer');
      throw error;
    }
  };
}

/** @throws Error on a route without the hook: a fault of ours */
export function keyOf(request: FastifyRequest): ApiKey {
  if (request.apiKey === null) throw new Error('The route is not behind authentication.');
  return request.apiKey;
}

/** @throws AppError `invalid_api_key` */
function parseBearerToken(header: string | undefined): string {
  if (header === undefined) {
    throw new AppError('invalid_api_key', 'No API key. Send it as "Authorization: Bearer <API_KEY>".');
  }
  const token = BEARER.exec(header)?.[1];
  if (token === undefined || token.length > MAX_TOKEN_LENGTH) {
    throw new AppError('invalid_api_key', 'The Authorization header must be "Bearer <API_KEY>".');
  }
  return token;
}
