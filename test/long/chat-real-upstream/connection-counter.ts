// A relay that passes bytes on and counts connections: whether a cancelled request has really left the upstream.

import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type Socket } from 'node:net';

export class ConnectionCounter {
  readonly #open = new Set<Socket>();
  readonly #watchers = new Set<() => void>();
  readonly #server: Server;

  private constructor(target: URL) {
    this.#server = createServer((client) => {
      const upstream = connect(Number(target.port), target.hostname);
      this.#open.add(upstream);
      client.pipe(upstream).pipe(client);
      for (const socket of [client, upstream]) {
        socket.on('error', () => undefined);
        socket.on('close', () => {
          client.destroy();
          upstream.destroy();
          this.#open.delete(upstream);
          for (const watcher of this.#watchers) watcher();
        });
      }
    });
  }

  static async start(target: URL): Promise<ConnectionCounter> {
    const counter = new ConnectionCounter(target);
    await new Promise<void>((resolve) => counter.#server.listen(0, '127.0.0.1', resolve));
    return counter;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get openConnections(): number {
    return this.#open.size;
  }

  async untilOpen(count: number): Promise<void> {
    if (this.#open.size <= count) return;
    await new Promise<void>((resolve) => {
      const watcher = () => {
        if (this.#open.size > count) return;
        this.#watchers.delete(watcher);
        resolve();
      };
      this.#watchers.add(watcher);
    });
  }

  async close(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
