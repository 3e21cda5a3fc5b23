// Sockets rather than requests: clients that are too slow or speak no HTTP, and letting go of connections when the
// server stops.

import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { AppError } from '../domain/errors.ts';
import { rawErrorReply } from './error-reply.ts';
import { newRequestId, requestIdHeaders } from './request-id.ts';

/** Sockets with a reply under way or owed; the value says whether the reply's head is already out. */
const replies = new WeakMap<Socket, () => boolean>();

/** How long a connection that has been answered and ended may still send; what arrives is thrown away. */
const LINGER_MS = 1000;

/** Node's `clientError`: the request never became one, so the reply is written by hand. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (socket.writableEnded) return;
  const headIsOut = replies.get(socket)?.() ?? false;
  if (error.code === 'ECONNRESET' || !socket.writable || headIsOut) {
    socket.destroy(error);
    return;
  }
  // Not destroyed at once: with bytes unread that would be a reset, and the client might never see the reply.
  socket.end(rawErrorReply(toAppError(error), requestIdHeaders(newRequestId())));
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}

function toAppError(error: NodeJS.ErrnoException): AppError {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new AppError('request_timeout', 'The request was not sent in time.');
  }
  if (error.code === 'HPE_HEADER_OVERFLOW') return new AppError('invalid_request', 'The headers are too large.');
  return new AppError('invalid_request', 'This is not an HTTP/1.1 request.');
}

export interface ConnectionRules {
  /** A client that takes in nothing of its reply for that long is disconnected. */
  readonly writeTimeoutMs: number;
  /** While it says so each reply ends its connection. */
  readonly isDraining: () => boolean;
}

/** When the server closes, only connections that are owed a reply are waited for. */
export function manageConnections(app: FastifyInstance, { writeTimeoutMs, isDraining }: ConnectionRules): void {
  const open = new Set<Socket>();
  const owed = new Set<Socket>();
  let isClosing = false;

  app.server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  app.addHook('onRequest', (request, reply, done) => {
    replies.set(request.raw.socket, () => reply.raw.headersSent);
    if (isDraining()) reply.header('connection', 'close');
    done();
  });
  // From here on the request is complete and will be answered.
  app.addHook('preHandler', (request, reply, done) => {
    const { socket } = request.raw;
    owed.add(socket);
    reply.raw.once('close', () => {
      owed.delete(socket);
      // Its head went out before the stop, without the header that ends the connection.
      if (isClosing) socket.end();
    });
    done();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    if (isDraining() && !reply.raw.headersSent) reply.header('connection', 'close');
    const { socket } = request.raw;
    if (open.has(socket)) {
      // Node asks the system whether a write makes progress before it calls this a timeout and destroys the socket.
      socket.setTimeout(writeTimeoutMs);
      // Before Node's own listener, which then sets the time that an idle connection is kept.
      reply.raw.prependOnceListener('finish', () => socket.setTimeout(0));
    }
    done(null, payload);
  });
  // Node stops its own check for slow clients here: one that never completes its request would hold the server open.
  app.addHook('preClose', (done) => {
    isClosing = true;
    for (const socket of open) if (!owed.has(socket)) socket.destroy();
    done();
  });
}
