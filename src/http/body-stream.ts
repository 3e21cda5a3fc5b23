// The bytes of a body, one piece after the other, decoded where they came encoded. Whoever takes them may stop the flow,
// or end it; what the client still sends is then read and dropped, so that it sees its reply and not a reset.

import type { Readable, Transform } from 'node:stream';
import { AppError } from '../domain/errors.ts';
import { badlyEncoded, type DecoderFactory } from './content-encoding.ts';

/** A promise: nothing more is read until it resolves. Throwing ends the reading. */
export type TakeBytes = (bytes: Buffer) => Promise<void> | undefined;

/** @throws what `take` throws; AppError `invalid_request` when the body is badly encoded or breaks off */
export async function readBytes(
  body: Readable,
  makeDecoder: DecoderFactory | undefined,
  take: TakeBytes,
): Promise<void> {
  try {
    if (makeDecoder === undefined) await new Flow(body, take, brokenOff).done;
    else await readDecoded(body, makeDecoder, take);
  } catch (error) {
    body.resume();
    throw error;
  }
}

async function readDecoded(body: Readable, makeDecoder: DecoderFactory, take: TakeBytes): Promise<void> {
  let decoder: Transform | undefined;
  let decoded: Promise<void> = Promise.resolve();
  const start = (firstByte: number): Transform => {
    const made = makeDecoder(firstByte);
    decoded = new Flow(made, take, badlyEncoded).done;
    decoded.catch((error: unknown) => encoded.fail(error));
    return made;
  };
  const encoded = new Flow(
    body,
    (bytes) => {
      if (bytes.length === 0) return undefined;
      decoder ??= start(bytes[0] ?? 0);
      return decoder.write(bytes) ? undefined : Promise.race([drained(decoder), decoded]);
    },
    brokenOff,
  );
  try {
    await encoded.done;
    decoder?.end();
    await decoded;
  } finally {
    decoder?.destroy();
  }
}

function drained(decoder: Transform): Promise<void> {
  return new Promise((resolve) => decoder.once('drain', resolve));
}

/** Nobody is there to be answered, but it is not our fault. */
function brokenOff(): AppError {
  return new AppError('invalid_request', 'The connection was closed before the request was complete.');
}

function ignore(): void {
  // Told to whoever reads.
}

/** What comes out of one stream, until its end or the first failure. */
class Flow {
  readonly done: Promise<void>;
  readonly #source: Readable;
  readonly #take: TakeBytes;
  readonly #failed: () => AppError;
  readonly #settle: { readonly resolve: () => void; readonly reject: (error: unknown) => void };

  constructor(source: Readable, take: TakeBytes, failed: () => AppError) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.done = promise;
    this.#settle = { resolve, reject };
    this.#source = source;
    this.#take = take;
    this.#failed = failed;
    // Kept for good: an error that comes after the reading has ended must not end the process. It keeps nothing of the body.
    source.on('error', ignore).on('error', this.#onFailure).on('close', this.#onFailure);
    source.on('data', this.#onData).on('end', this.#onEnd);
    if (source.destroyed) this.#onFailure();
  }

  fail(error: unknown): void {
    this.#detach();
    this.#settle.reject(error);
  }

  readonly #onData = (bytes: Buffer): void => {
    try {
      const wait = this.#take(bytes);
      if (wait === undefined) return;
      this.#source.pause();
      wait.then(
        () => this.#source.resume(),
        (error: unknown) => this.fail(error),
      );
    } catch (error) {
      this.fail(error);
    }
  };

  readonly #onEnd = (): void => {
    this.#detach();
    this.#settle.resolve();
  };

  readonly #onFailure = (): void => this.fail(this.#failed());

  #detach(): void {
    this.#source.off('data', this.#onData).off('end', this.#onEnd);
    this.#source.off('error', this.#onFailure).off('close', this.#onFailure);
  }
}
