// Sockets rather than requests: clients that are too slow or speak no HTTP, and letting go of connections when the
// server stops.

import { once } from 'node:events';
import { type IncomingMessage, METHODS, type ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { AppError } from '../domain/errors.ts';
import { rawErrorReply } from './error-reply.ts';
import { newRequestId, requestIdHeaders } from './request-id.ts';
import { ALL_METHODS } from './unknown-route.ts';

interface OpenExchange {
  readonly request: IncomingMessage;
  readonly reply: ServerResponse;
}

interface Exchanges {
  /** Whose replies are not over. Several where a client sends requests without waiting. */
  readonly open: Set<OpenExchange>;
  /** The one that began last: what arrives may belong to its body. */
  latest: OpenExchange;
}

const exchanges = new WeakMap<Socket, Exchanges>();
/** Those whose next bytes make no sense. They are ended as soon as what came before is answered. */
const refused = new WeakSet<Socket>();

/** How long a request that has begun when the server stops may take to be read. */
const INTAKE_MS = 2000;

/** How long a connection that has been answered and ended may still send; what arrives is thrown away. */
const LINGER_MS = 1000;

/** Node's `clientError`: the request never became one, so the reply is written by hand. */
export function answerClientError(error: ClientError, socket: Socket): void {
  const reply = replyToIncomplete(socket);
  const isInMidReply = reply?.headersSent === true && !reply.writableEnded;
  if (error.code === 'ECONNRESET' || !socket.writable || isInMidReply) {
    socket.destroy(error);
    return;
  }
  refuseConnection(socket, tellClientError(error));
}

/** Of the request whose body the socket was in the middle of. */
function replyToIncomplete(socket: Socket): ServerResponse | undefined {
  const latest = exchanges.get(socket)?.latest;
  return latest?.request.complete === false ? latest.reply : undefined;
}

interface ClientError extends NodeJS.ErrnoException {
  /** What the parser was given. */
  readonly rawPacket?: unknown;
}

/** A request line that is right but for a method that nobody knows. */
const REQUEST_LINE = /^([\w!#$%&'*+.^`|~-]{1,64}) [\x21-\x7e]+ HTTP\/1\.[01]\r?\n/;

function tellClientError({ code, rawPacket }: ClientError): AppError {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new AppError('request_timeout', 'The request was not sent in time.');
    case 'HPE_HEADER_OVERFLOW':
      return new AppError('invalid_request', 'The headers are too large.');
    case 'HPE_INVALID_METHOD':
      if (beginsWithForeignMethod(rawPacket)) return foreignMethod();
  }
  return new AppError('invalid_request', 'This is not an HTTP/1.1 request.');
}

/** A packet may hold good requests before the one that is not. */
function beginsWithForeignMethod(packet: unknown): boolean {
  const method = Buffer.isBuffer(packet) ? REQUEST_LINE.exec(packet.toString('latin1'))?.[1] : undefined;
  return method !== undefined && !METHODS.includes(method);
}

function foreignMethod(): AppError {
  return new AppError('method_not_allowed', `No route takes this method. Those there are: ${ALL_METHODS}.`);
}

/** Where replies are owed, behind them: a client takes what comes for the answer to its oldest request. */
function refuseConnection(socket: Socket, error: AppError): void {
  if (refused.has(socket) || socket.writableEnded) return;
  refused.add(socket);
  const owed = [...(exchanges.get(socket)?.open ?? [])].filter(
    ({ request, reply }) => request.complete || reply.headersSent,
  );
  if (owed.length === 0) endWithRefusal(socket, error);
  else void Promise.all(owed.map(({ reply }) => once(reply, 'close'))).then(() => endWithRefusal(socket, error));
}

function endWithRefusal(socket: Socket, error: AppError): void {
  if (!socket.writable) return;
  const isAnswered = replyToIncomplete(socket)?.headersSent === true;
  // Not destroyed at once: with bytes unread that would be a reset, and the client might never see the reply.
  socket.end(isAnswered ? '' : writeRefusal(error));
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}

function writeRefusal(error: AppError): string {
  const allow = error.code === 'method_not_allowed' ? { allow: ALL_METHODS } : {};
  return rawErrorReply(error, { ...requestIdHeaders(newRequestId()), ...allow });
}

export interface ConnectionRules {
  /** A client that takes in nothing of its reply for that long is disconnected. */
  readonly writeTimeoutMs: number;
  /** While it says so each reply ends its connection. */
  readonly isDraining: () => boolean;
}

/** When the server closes, connections that are owed a reply are waited for, and for a moment those in mid-request. */
export function manageConnections(app: FastifyInstance, { writeTimeoutMs, isDraining }: ConnectionRules): void {
  const open = new Set<Socket>();
  const owed = new Set<Socket>();
  let isClosing = false;

  app.server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  // Not a hook: those do not run for paths that the framework refuses by itself.
  app.server.prependListener('request', (request, reply) => {
    noteExchange(request.socket, { request, reply });
  });
  // Node hands over the bare connection, which would be closed without a word.
  app.server.on('connect', (_request, socket) => {
    if (!(socket instanceof Socket)) return;
    socket.on('error', () => socket.destroy());
    socket.resume();
    refuseConnection(socket, foreignMethod());
  });
  app.addHook('onRequest', (_request, reply, done) => {
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
    const cutUnlessOwed = (socket: Socket): void => {
      if (!owed.has(socket)) socket.destroy();
    };
    for (const socket of open) {
      const isInRequest = (exchanges.get(socket)?.open.size ?? 0) > 0;
      // A body that has come may still wait for its turn to be read: its sender counts on an answer.
      if (isInRequest) setTimeout(cutUnlessOwed, INTAKE_MS, socket).unref();
      else cutUnlessOwed(socket);
    }
    done();
  });
}

function noteExchange(socket: Socket, exchange: OpenExchange): void {
  const ofSocket = exchanges.get(socket) ?? { open: new Set(), latest: exchange };
  exchanges.set(socket, ofSocket);
  ofSocket.latest = exchange;
  ofSocket.open.add(exchange);
  exchange.reply.once('close', () => ofSocket.open.delete(exchange));
}
