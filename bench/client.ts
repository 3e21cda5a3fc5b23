// The HTTP client of the bench: kept-alive connections, one request at a time on each, times measured around the whole exchange.

import { Pool } from 'undici';

export interface BenchReply {
  readonly status: number;
  /** From before the request is written until the body is complete. */
  readonly latencyMs: number;
  readonly text: string;
  /** What the server asks us to wait before trying again; undefined if it does not. */
  readonly retryAfterMs: number | undefined;
}

export class BenchClient {
  readonly #pool: Pool;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(origin: string, apiKey: string, connections: number) {
    this.#pool = new Pool(origin, { connections, pipelining: 1, headersTimeout: 120_000, bodyTimeout: 120_000 });
    this.#headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  }

  post(path: string, body: string): Promise<BenchReply> {
    return this.#exchange('POST', path, body);
  }

  get(path: string): Promise<BenchReply> {
    return this.#exchange('GET', path, null);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  async #exchange(method: 'GET' | 'POST', path: string, body: string | null): Promise<BenchReply> {
    const startedMs = performance.now();
    const reply = await this.#pool.request({ method, path, body, headers: this.#headers });
    const text = await reply.body.text();
    const latencyMs = performance.now() - startedMs;
    const retryAfter = reply.headers['retry-after-ms'];
    const retryAfterMs = typeof retryAfter === 'string' ? Number(retryAfter) : undefined;
    return { status: reply.statusCode, latencyMs, text, retryAfterMs };
  }
}
