// The HTTP client of the bench: kept-alive connections, one request at a time on each, times measured around the whole exchange.
// It takes the parts of a reply as they come, without streams: what it costs is counted as the server's.

import { type Dispatcher, Pool } from 'undici';

export interface BenchReply {
  readonly status: number;
  /** From before the request is written until the body is complete. */
  readonly latencyMs: number;
  readonly text: string;
  /** What the server asks us to wait before trying again; undefined if it does not. */
  readonly retryAfterMs: number | undefined;
  /** What the server says of its own time, `queue;dur=0.012, …`; empty if it says nothing. */
  readonly serverTiming: string;
}

type ReplyHeaders = Readonly<Record<string, string | string[] | undefined>>;

export class BenchClient {
  readonly #pool: Pool;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(origin: string, apiKey: string, connections: number) {
    this.#pool = new Pool(origin, { connections, pipelining: 1, headersTimeout: 120_000, bodyTimeout: 120_000 });
    this.#headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  }

  post(path: string, body: string): Promise<BenchReply> {
    return this.#exchange({ method: 'POST', path, body, headers: this.#headers });
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
          const retryAfter = headers['retry-after-ms'];
          resolve({
            status,
            latencyMs,
            text: Buffer.concat(chunks).toString(),
            retryAfterMs: retryAfter === undefined ? undefined : Number(retryAfter),
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
