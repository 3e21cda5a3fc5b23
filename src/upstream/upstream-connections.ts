// Kept-alive HTTP/1.1 connections to one upstream, and the one retry that is safe: on a connection that the upstream
// closed while it was idle, before a byte of the answer. Knows nothing of the chat format.

import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { buildConnector, type Dispatcher, Pool } from 'undici';
import type { Payload } from './payload.ts';

export interface UpstreamCall {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Let go at the head of the answer, at the latest. */
  readonly payload: Payload;
  readonly signal: AbortSignal;
  /** Called when the request is written to a connection; again when it is sent again. */
  readonly onSent: () => void;
}

interface SocketHistory {
  readonly requests: number;
  /** Bytes the socket had read when its latest request was sent. */
  readonly bytesReadBefore: number;
}

const histories = new WeakMap<Socket, SocketHistory>();

// undici tells which socket a request went out on nowhere else.
subscribe('undici:client:sendHeaders', (message) => {
  const { socket } = message as { readonly socket: Socket };
  const requests = (histories.get(socket)?.requests ?? 0) + 1;
  histories.set(socket, { requests, bytesReadBefore: socket.bytesRead });
});

export class UpstreamConnections {
  readonly #pool: Pool;
  readonly #sending: Dispatcher;
  /** Socket of each connection error: the client hands on the very object. */
  readonly #socketOfError = new WeakMap<object, Socket>();

  constructor(origin: string, options: { readonly connectTimeoutMs: number; readonly maxConnections: number }) {
    // allowH2 is on by default; one connection per request is what the cancelling relies on.
    const connect = buildConnector({ timeout: options.connectTimeoutMs, allowH2: false });
    this.#pool = new Pool(origin, {
      connections: options.maxConnections,
      pipelining: 1,
      // Clocks are the caller's: these two know no difference between a slow upstream and a slow client.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (target, callback) => {
        const socket = connect(target, callback) as unknown as Socket;
        socket.on('error', (error) => this.#socketOfError.set(error, socket));
      },
    });
    this.#sending = this.#pool.compose(tellWhenSent);
  }

  /** Resolves with the head. Rejects with the signal's reason as soon as it is aborted, even while connecting. */
  async post(call: UpstreamCall): Promise<Dispatcher.ResponseData> {
    try {
      return await this.#postOnce(call);
    } catch (error) {
      if (call.signal.aborted || !call.payload.isThere || !this.#wasStale(error)) throw error;
      return await this.#postOnce(call);
    } finally {
      call.payload.letGo();
    }
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  /** undici looks at the signal of a request that waits for its connection only once there is one. */
  #postOnce({ signal, payload, ...call }: UpstreamCall): Promise<Dispatcher.ResponseData> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Dispatcher.ResponseData>();
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    const headers = { ...call.headers, 'content-length': String(payload.byteLength) };
    const options: SentOptions = { ...call, headers, body: payload.body(), method: 'POST', signal };
    this.#sending
      .request(options)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', onAbort));
    return promise;
  }

  #wasStale(error: unknown): boolean {
    const socket = typeof error === 'object' && error !== null ? this.#socketOfError.get(error) : undefined;
    const history = socket && histories.get(socket);
    return history !== undefined && history.requests > 1 && socket?.bytesRead === history.bytesReadBefore;
  }
}

interface SentOptions extends Dispatcher.RequestOptions {
  readonly onSent: () => void;
}

/** The client hands the options of a request to its interceptors as they are, ours among them. */
function tellWhenSent(dispatch: Dispatcher.Dispatch): Dispatcher.Dispatch {
  return (options, handler) => {
    const { onSent } = options as Dispatcher.DispatchOptions & Pick<SentOptions, 'onSent'>;
    const start = handler.onRequestStart?.bind(handler);
    handler.onRequestStart = (controller, context) => {
      start?.(controller, context);
      if (!controller.aborted) onSent();
    };
    return dispatch(options, handler);
  };
}
