// A TCP proxy before PostgreSQL behind which the network can fall apart: nothing arrives any more in either direction,
// nobody is told, and connections go on when it is whole again, as TCP's do.

import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { listenAnywhere, urlBy } from './proxy-address.ts';

export class StallingProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isStalled = false;

  private constructor(targetPort: number) {
    this.#server = createServer((client) => {
      const database = connect(targetPort, '127.0.0.1');
      this.#join(client, database);
      this.#join(database, client);
    });
  }

  static async before(targetPort: number): Promise<StallingProxy> {
    const proxy = new StallingProxy(targetPort);
    await listenAnywhere(proxy.#server);
    return proxy;
  }

  /** The same address by way of the proxy. */
  urlOf(url: string): string {
    return urlBy(this.#server, url);
  }

  /** From now on nothing gets through: neither bytes nor the news that a side has gone. */
  stall(): void {
    this.#isStalled = true;
    for (const socket of this.#sockets) socket.pause();
  }

  /** What was sent meanwhile arrives. */
  resume(): void {
    this.#isStalled = false;
    for (const socket of this.#sockets) socket.resume();
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #join(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    from.on('data', (bytes) => to.write(bytes));
    from.on('end', () => to.end());
    from.on('error', () => to.destroy());
    from.once('close', () => {
      this.#sockets.delete(from);
      to.destroySoon();
    });
    if (this.#isStalled) from.pause();
  }
}
