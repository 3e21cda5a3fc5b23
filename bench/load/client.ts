// The HTTP client of the bench: kept-alive connections, one request at a time on each, times measured around the whole exchange.
// It takes the parts of a reply as they come, without streams: what it costs is counted as the server's.

import { type Dispatcher, Pool } from 'undici';

export interface BenchReply {
  readonly status: number;
  /** From before the request is written until the body is complete. */
  readonly latencyMs: number;
  /** Made of its bytes when it is asked for: most replies of a load are not read. */
  readonly text: string;
  readonly headers: ReplyHeaders;
  /** What the server asks us to wait before trying again; undefined if it does not. */
  readonly retryAfterMs: number | undefined;
  /** What the server says of its own time, `queue;dur=0.012, …`; empty if it says nothing. */
  readonly serverTiming: string;
}

export interface PostOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** How long the client waits for its reply. */
  readonly timeoutMs?: number;
}

type ReplyHeaders = Readonly<Record<string, string | string[] | undefined>>;

const TIMEOUT_MS = 120_000;

export class BenchClient {
  readonly #pool: Pool;
  readonly #headers: Readonly<Record<string, string>>;

  /** @param connections null: as many as there are requests in flight */
  constructor(origin: string, apiKey: string, connections: number | null) {
    this.#pool = new Pool(origin, { connections, pipelining: 1, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });
    this.#headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  }

  /** Rejects when the connection breaks or the client's patience ends. */
  post(path: string, body: string, { headers, timeoutMs = TIMEOUT_MS }: PostOptions = {}): Promise<BenchReply> {
    const all = headers === undefined ? this.#headers : { ...this.#headers, ...headers };
    const patience = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs };
    return this.#exchange({ method: 'POST', path, body, headers: all, ...patience });
  }

  get(path: string): Promise<BenchReply> {
    return this.#exchange({ method: 'GET', path, headers: this.#headers });
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  #exchange(request: Dispatcher.DispatchOptions): Promise<BenchReply> {
    return new Promise((resolve, reject) => {
      const startedMs = performance.now();
      const chunks: Buffer[] = [];
      let status = 0;
      let headers: ReplyHeaders = {};
      this.#pool.dispatch(request, {
        onRequestStart() {},
        onResponseStart(_controller, statusCode, replyHeaders) {
          status = statusCode;
          headers = replyHeaders;
        },
        onResponseData(_controller, chunk) {
          chunks.push(chunk);
        },
        onResponseEnd() {
          const latencyMs = performance.now() - startedMs;
          resolve({
            status,
            latencyMs,
            get text() {
              return Buffer.concat(chunks).toString();
            },
            headers,
            retryAfterMs: readRetryAfter(headers),
            serverTiming: String(headers['server-timing'] ?? ''),
          });
        },
        onResponseError(_controller, error) {
          reject(error);
        },
      });
    });
  }
}

/** `retry-after-ms`, or `retry-after` in seconds. */
function readRetryAfter(headers: ReplyHeaders): number | undefined {
  const ms = Number(headers['retry-after-ms'] ?? Number(headers['retry-after'] ?? Number.NaN) * 1000);
  return Number.isNaN(ms) ? undefined : ms;
}
