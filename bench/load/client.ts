// The HTTP client of the bench: kept-alive connections, one request at a time on each, times measured around the whole exchange.
// It takes the parts of a reply as they come, without streams: what it costs is counted as the server's.

import { setTimeout as sleep } from 'node:timers/promises';
import { type Dispatcher, Pool } from 'undici';
import { type Job, requestFor } from './workload.ts';

export interface BenchReply {
  readonly status: number;
  /** From before the request is written until the body is complete. */
  readonly latencyMs: number;
  /** Made of its bytes when it is asked for: most replies of a load are not read. */
  readonly text: string;
  readonly headers: ReplyHeaders;
}

export interface PostOptions {
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** How long the client waits for its reply. */
  readonly timeoutMs?: number;
}

type ReplyHeaders = Readonly<Record<string, string | string[] | undefined>>;

const TIMEOUT_MS = 120_000;
const MAX_RETURNS = 20;

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

  /** @throws if it is not answered with 200 */
  async ask(job: Job): Promise<BenchReply> {
    return await this.#askAtMost(1, job);
  }

  /** Comes back when it was told to; for what is not timed. @throws if it is not let in, or else not answered with 200 */
  async askUntilLetIn(job: Job): Promise<BenchReply> {
    return await this.#askAtMost(MAX_RETURNS, job);
  }

  async #askAtMost(times: number, job: Job): Promise<BenchReply> {
    const { path, body } = requestFor(job);
    const reply = await this.post(path, body);
    if (times > 1 && isRefusal(reply)) {
      await sleep(readRetryAfterMs(reply) ?? 1000);
      return await this.#askAtMost(times - 1, job);
    }
    if (reply.status !== 200) throw new Error(`${path} was answered with ${reply.status}: ${reply.text.slice(0, 500)}`);
    return reply;
  }

  /** One after the other. */
  async askInTurn(count: number, next: () => Job): Promise<BenchReply[]> {
    const replies: BenchReply[] = [];
    for (let index = 0; index < count; index++) replies.push(await this.ask(next()));
    return replies;
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
      let [status, headers]: [number, ReplyHeaders] = [0, {}];
      this.#pool.dispatch(request, {
        onRequestStart() {},
        onResponseStart(_controller, statusCode, replyHeaders) {
          [status, headers] = [statusCode, replyHeaders];
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
          });
        },
        onResponseError(_controller, error) {
          reject(error);
        },
      });
    });
  }
}

/** The server is full, or the caller's limit is reached. */
export function isRefusal(reply: BenchReply | undefined): boolean {
  return reply?.status === 503 || reply?.status === 429;
}

/** What the server asks us to wait before trying again: `retry-after-ms`, or `retry-after` in seconds. */
export function readRetryAfterMs(reply: BenchReply | undefined): number | undefined {
  const headers = reply?.headers ?? {};
  const ms = Number(headers['retry-after-ms'] ?? Number(headers['retry-after'] ?? Number.NaN) * 1000);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Of what the server says of its own time, in milliseconds: `queue;dur=0.012, tokenize;dur=0.408`. */
export function readTiming({ headers }: BenchReply, part: 'queue' | 'tokenize' | 'infer'): number {
  return Number(new RegExp(`\\b${part};dur=([\\d.]+)`).exec(String(headers['server-timing'] ?? ''))?.[1]);
}
