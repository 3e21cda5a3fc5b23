// One case on a connection of its own: sends its bytes as it says, and reads what comes until there is nothing to wait for.

import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FuzzCase } from './cases.ts';

/** Longer than any time limit of the server and of its upstream: then nobody ends the connection any more. */
const HUNG_AFTER_MS = 25_000;
/** No more replies are waited for after that much silence. */
const QUIET_MS = 120;
/** Of a request that is not complete the server says so in its own time; few cases wait for that. */
const PATIENT_ONE_IN = 8;
const IMPATIENT_MS = 400;
const DEAF_MS = 6000;

export interface SentCase {
  /** Everything that came back, a byte in each character. */
  readonly text: string;
  readonly isHung: boolean;
}

export async function sendCase(port: number, one: FuzzCase): Promise<SentCase> {
  const socket = connect(port, '127.0.0.1');
  const sent = new Exchange(socket, one);
  void writePieces(socket, one);
  return await sent.result;
}

class Exchange {
  readonly result: Promise<SentCase>;
  readonly #socket: Socket;
  readonly #chunks: Buffer[] = [];
  readonly #timers: NodeJS.Timeout[] = [];
  #quiet: NodeJS.Timeout | undefined;
  #isHung = false;

  constructor(socket: Socket, one: FuzzCase) {
    this.#socket = socket;
    const { promise, resolve } = Promise.withResolvers<SentCase>();
    this.result = promise;
    const waitsForEnd = one.isHalfClosed || one.number % PATIENT_ONE_IN === 0;
    // A connection that the server resets has ended too.
    socket.on('error', () => undefined);
    if (!one.isDeaf) this.#listen(waitsForEnd);
    socket.once('close', () => {
      for (const timer of this.#timers) clearTimeout(timer);
      clearTimeout(this.#quiet);
      resolve({ text: Buffer.concat(this.#chunks).toString('latin1'), isHung: this.#isHung });
    });
    this.#destroyAfter(HUNG_AFTER_MS, true);
    // Nothing tells a client that does not read that the other side has ended.
    if (one.isDeaf) this.#destroyAfter(DEAF_MS, false);
    else if (one.leavesAfterMs !== undefined) this.#destroyAfter(one.leavesAfterMs, false);
    else if (!waitsForEnd) this.#quiet = setTimeout(() => socket.destroy(), IMPATIENT_MS + one.pieces * PAUSE_MS);
  }

  #listen(waitsForEnd: boolean): void {
    this.#socket.on('data', (bytes) => {
      this.#chunks.push(bytes);
      clearTimeout(this.#quiet);
      if (!waitsForEnd) this.#quiet = setTimeout(() => this.#socket.destroy(), QUIET_MS);
    });
  }

  #destroyAfter(ms: number, isHung: boolean): void {
    const timer = setTimeout(() => {
      this.#isHung = isHung;
      this.#socket.destroy();
    }, ms);
    this.#timers.push(timer);
  }
}

const PAUSE_MS = 15;

async function writePieces(socket: Socket, { bytes, pieces, isHalfClosed }: FuzzCase): Promise<void> {
  const size = Math.max(1, Math.ceil(bytes.length / pieces));
  for (let at = 0; at < bytes.length && socket.writable; at += size) {
    if (at > 0) await sleep(PAUSE_MS);
    socket.write(bytes.subarray(at, at + size));
  }
  if (isHalfClosed && socket.writable) socket.end();
}
