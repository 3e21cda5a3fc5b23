// A real HTTP server of the chat format on a port of its own. It answers as each test says, keeps what it was sent, and
// counts its connections, so that a test can wait for one to end.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of what they sent
  readonly json: any;
}

/** Writes the reply to one request. Need not end it. */
export type AnswerScript = (response: ServerResponse, request: ReceivedRequest) => unknown;

export class UpstreamDouble {
  /** Every request so far, whole ones only. */
  readonly requests: ReceivedRequest[] = [];
  answer: AnswerScript;
  connectionsSoFar = 0;
  /** Replies neither ended nor cut. */
  runningReplies = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #watchers = new Set<() => void>();

  private constructor(answer: AnswerScript) {
    this.answer = answer;
    this.#server = createServer((request, response) => void this.#receive(request, response));
    this.#server.on('connection', (socket: Socket) => {
      this.connectionsSoFar += 1;
      this.#sockets.add(socket);
      socket.once('close', () => {
        this.#sockets.delete(socket);
        this.#notify();
      });
    });
  }

  static async start(answer: AnswerScript): Promise<UpstreamDouble> {
    const double = new UpstreamDouble(answer);
    await new Promise<void>((resolve) => double.#server.listen(0, '127.0.0.1', resolve));
    return double;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  get openConnections(): number {
    return this.#sockets.size;
  }

  get lastRequest(): ReceivedRequest {
    const last = this.requests.at(-1);
    if (last === undefined) throw new Error('The upstream was not asked.');
    return last;
  }

  /** Resolves as soon as it holds; looked at whenever a request arrives, a reply or a connection ends. */
  async until(condition: () => boolean): Promise<void> {
    if (condition()) return;
    await new Promise<void>((resolve) => {
      const watcher = () => {
        if (!condition()) return;
        this.#watchers.delete(watcher);
        resolve();
      };
      this.#watchers.add(watcher);
    });
  }

  /** Ends idle connections as a server does that restarts: with a reset. */
  resetConnections(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'GET') {
      // A start asks for the list of models. There is none; and it is no call.
      response.writeHead(404).end();
      return;
    }
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      return; // The client left while sending.
    }
    const text = Buffer.concat(chunks).toString();
    const received = { path: request.url ?? '', headers: request.headers, text, json: JSON.parse(text) };
    this.requests.push(received);
    this.runningReplies += 1;
    response.once('close', () => {
      this.runningReplies -= 1;
      this.#notify();
    });
    this.#notify();
    await this.answer(response, received);
  }

  #notify(): void {
    for (const watcher of this.#watchers) watcher();
  }
}
