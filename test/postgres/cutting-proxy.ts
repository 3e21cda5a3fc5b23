// A TCP proxy before PostgreSQL that cuts a connection at a chosen statement: before the statement has arrived, or when
// it was carried out and its reply is on the way back. Then nobody gets through until it is told so. Reads as much of the
// protocol as it takes to tell statements and replies apart.

import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { listenAnywhere, urlBy } from './proxy-address.ts';

/** `before`: the statement never arrives. `after`: it is carried out, and its reply is swallowed. */
export type CutPhase = 'before' | 'after';

export interface Cut {
  readonly phase: CutPhase;
  /** Text of the statement that was cut. */
  readonly statement: string;
}

interface Plan {
  readonly phase: CutPhase;
  /** Statements that pass before it. */
  passing: number;
  readonly done: (cut: Cut) => void;
}

const SIMPLE_QUERY = 'Q';
const PARSE = 'P';
const SYNC = 'S';
const READY_FOR_QUERY = 'Z';

export class CuttingProxy {
  readonly #server: Server;
  readonly #targetPort: number;
  readonly #links = new Set<Link>();
  #plan: Plan | undefined;
  #isAway = false;

  private constructor(targetPort: number) {
    this.#targetPort = targetPort;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  static async before(targetPort: number): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(targetPort);
    await listenAnywhere(proxy.#server);
    return proxy;
  }

  /** The same address by way of the proxy. */
  urlOf(url: string): string {
    return urlBy(this.#server, url);
  }

  /** Cuts at the statement after so many others, of all connections together. @returns resolves when that has happened */
  cutAfter(passing: number, phase: CutPhase): Promise<Cut> {
    return new Promise((resolve) => {
      this.#plan = { phase, passing, done: resolve };
    });
  }

  /** Whether the database cannot be reached at the moment. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** Lets everybody through again; a cut that has not happened does not happen any more. */
  restore(): void {
    this.#plan = undefined;
    this.#isAway = false;
  }

  async close(): Promise<void> {
    for (const link of this.#links) link.end();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #accept(socket: Socket): void {
    if (this.#isAway) {
      socket.on('error', () => undefined).destroy();
      return;
    }
    const link = new Link(socket, connect(this.#targetPort, '127.0.0.1'), (statement) => this.#decide(statement));
    this.#links.add(link);
    socket.once('close', () => this.#links.delete(link));
  }

  /** @returns how this statement is cut; undefined: it passes */
  #decide(statement: string): { readonly phase: CutPhase; readonly onCut: () => void } | undefined {
    const plan = this.#plan;
    if (plan === undefined) return undefined;
    if (plan.passing > 0) {
      plan.passing -= 1;
      return undefined;
    }
    this.#plan = undefined;
    const onCut = (): void => {
      this.#isAway = true;
      for (const link of this.#links) link.end();
      plan.done({ phase: plan.phase, statement });
    };
    return { phase: plan.phase, onCut };
  }
}

type Decide = (statement: string) => { readonly phase: CutPhase; readonly onCut: () => void } | undefined;

/** One connection: what the server sends up, and what PostgreSQL says. */
class Link {
  readonly #client: Socket;
  readonly #database: Socket;
  readonly #decide: Decide;
  /** Statements sent so far; PostgreSQL says as often that it is ready, and once after the password. */
  #sent = 0;
  #answered = -1;
  /** Of which statement the reply is swallowed. */
  #swallowed: { readonly number: number; readonly onCut: () => void } | undefined;
  #statement = '';
  #hasEnded = false;

  constructor(client: Socket, database: Socket, decide: Decide) {
    this.#client = client;
    this.#database = database;
    this.#decide = decide;
    const upward = new Frames({ hasStartup: true, onFrame: (type, frame) => this.#pass(type, frame) });
    const downward = new Frames({ hasStartup: false, onFrame: (type, frame) => this.#answer(type, frame) });
    client.on('data', (bytes) => upward.take(bytes));
    database.on('data', (bytes) => downward.take(bytes));
    for (const socket of [client, database]) {
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.once('close', () => this.end());
    }
  }

  end(): void {
    this.#hasEnded = true;
    this.#client.destroy();
    this.#database.destroy();
  }

  #pass(type: string, frame: Buffer): void {
    if (this.#hasEnded) return;
    if (type === SIMPLE_QUERY) this.#statement = readText(frame, 5);
    if (type === PARSE) this.#statement = readText(frame, frame.indexOf(0, 5) + 1);
    if (type === SIMPLE_QUERY || type === SYNC) {
      const cut = this.#decide(this.#statement);
      if (cut?.phase === 'before') {
        cut.onCut();
        return;
      }
      this.#sent += 1;
      if (cut !== undefined) this.#swallowed = { number: this.#sent, onCut: cut.onCut };
    }
    this.#database.write(frame);
  }

  #answer(type: string, frame: Buffer): void {
    if (this.#hasEnded) return;
    const isSwallowed = this.#swallowed !== undefined && this.#answered + 1 >= this.#swallowed.number;
    if (!isSwallowed) this.#client.write(frame);
    if (type !== READY_FOR_QUERY) return;
    this.#answered += 1;
    if (this.#swallowed !== undefined && this.#answered === this.#swallowed.number) this.#swallowed.onCut();
  }
}

function readText(frame: Buffer, from: number): string {
  return frame.toString('utf8', from, frame.indexOf(0, from));
}

/** Messages of the protocol, whole: a byte of type and four of length, which the first one of a client goes without. */
class Frames {
  #bytes = Buffer.alloc(0);
  #hasStartup: boolean;
  readonly #onFrame: (type: string, frame: Buffer) => void;

  constructor({ hasStartup, onFrame }: { hasStartup: boolean; onFrame: (type: string, frame: Buffer) => void }) {
    this.#hasStartup = hasStartup;
    this.#onFrame = onFrame;
  }

  take(bytes: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    for (;;) {
      const start = this.#hasStartup ? 0 : 1;
      if (this.#bytes.length < start + 4) return;
      const length = start + this.#bytes.readUInt32BE(start);
      if (this.#bytes.length < length) return;
      const frame = this.#bytes.subarray(0, length);
      this.#bytes = this.#bytes.subarray(length);
      const type = this.#hasStartup ? '' : String.fromCharCode(frame[0] ?? 0);
      this.#hasStartup = false;
      this.#onFrame(type, frame);
    }
  }
}
