// The way of a body from the socket to a value: limits while it arrives, room in memory, decoding, parsing in turns. What
// the value means is its route's.

import type { Hash } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../domain/errors.ts';
import { type JsonMember, JsonReading, type JsonRules, JsonSyntaxError, MAX_JSON_DEPTH } from '../domain/json.ts';
import { keyOf } from './authenticate.ts';
import { type BodyLimits, tooManyBytes, tooManyValues } from './body-limits.ts';
import { type BodyPlace, BodyRoom, type BodyRoomOptions, PlaceReleasedError } from './body-room.ts';
import { readBytes } from './body-stream.ts';
import { ClientLeftError } from './client-left.ts';
import { findDecoder } from './content-encoding.ts';
import { ParseTurns } from './parse-turns.ts';
import { NotUtf8Error, Utf8Text } from './utf8-text.ts';
import { ValueCount } from './value-count.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Room that the body takes; null: there is none. Given back when the reply is closed, at the latest. */
    bodyPlace: BodyPlace | null;
  }
}

/** What a body without a length is given at first. */
const FIRST_ROOM_BYTES = 64 * 1024;
const GROWTH = 2;
/** In memory, beside its text: what was measured of Maps and objects, and of names and entries. */
const BYTES_PER_CONTAINER = 200;
const BYTES_PER_VALUE = 48;

export interface ReceivedBody {
  readonly text: string;
  readonly value: unknown;
  /** Of the outermost object, if the rules ask for them. */
  readonly members: readonly JsonMember[];
}

export interface BodyWanted {
  readonly limits: BodyLimits;
  readonly rules: JsonRules;
  /** What refuses every request of the key; asked before much of a body is read. Default: nothing. */
  readonly findRefusal?: (() => Promise<AppError | undefined> | undefined) | undefined;
  /** Is fed the decoded bytes. */
  readonly hash?: Hash | undefined;
}

export class BodyIntake {
  readonly #room: BodyRoom;
  readonly #turns = new ParseTurns();

  constructor(options: BodyRoomOptions) {
    this.#room = new BodyRoom(options);
  }

  /** Call it once, on the server that owns all routes. */
  attach(app: FastifyInstance): void {
    app.decorateRequest('bodyPlace', null);
    app.addHook('preParsing', (request, reply, _body, done) => {
      reply.raw.once('close', () => request.bodyPlace?.release());
      done();
    });
  }

  /**
   * @returns undefined for a body of no bytes
   * A body that is too large is refused before it is read where its length says so, otherwise as soon as it is.
   * @throws AppError `invalid_request`, `request_too_large`, `overloaded`; ClientLeftError
   */
  async receive(
    request: FastifyRequest,
    body: NodeJS.ReadableStream,
    wanted: BodyWanted,
  ): Promise<ReceivedBody | undefined> {
    if (request.raw.socket.destroyed) throw new ClientLeftError();
    const reading = new BodyReading(request, this.#room.place(keyOf(request).id), wanted);
    request.bodyPlace = reading.place;
    const text = await reading.read(body as FastifyRequest['raw']);
    if (text === '') return undefined;
    try {
      const json = new JsonReading(text, wanted.rules);
      const value = await this.#turns.parse(json, text.length);
      return { text, value, members: json.members };
    } catch (error) {
      throw error instanceof JsonSyntaxError ? invalidJson(error.message) : error;
    }
  }
}

/** One body on its way in. */
class BodyReading {
  readonly place: BodyPlace;
  readonly #request: FastifyRequest;
  readonly #wanted: BodyWanted;
  readonly #text = new Utf8Text();
  readonly #values = new ValueCount();
  #receivedBytes = 0;
  #roomBytes = 0;
  /** Whether it was looked up if the key has room for any request. */
  #isKeyKnown = false;

  constructor(request: FastifyRequest, place: BodyPlace, wanted: BodyWanted) {
    this.#request = request;
    this.place = place;
    // Of this moment: they may change while the body comes in.
    this.#wanted = { ...wanted, limits: { ...wanted.limits } };
  }

  async read(body: FastifyRequest['raw']): Promise<string> {
    const { limits } = this.#wanted;
    const { headers } = this.#request;
    const makeDecoder = findDecoder(headers['content-encoding']);
    const sentBytes = headers['content-length'] === undefined ? undefined : Number(headers['content-length']);
    if (sentBytes !== undefined && sentBytes > limits.bytes) throw tooManyBytes(limits);
    const isLengthKnown = sentBytes !== undefined && makeDecoder === undefined;
    await this.#growForBytes(isLengthKnown ? sentBytes : FIRST_ROOM_BYTES);
    await readBytes(body, makeDecoder, (bytes) => this.#take(bytes));
    if (isLengthKnown && sentBytes !== this.#receivedBytes) throw wrongLength();
    const { containers, values } = this.#values;
    await this.#grow(containers * BYTES_PER_CONTAINER + values * BYTES_PER_VALUE);
    return this.#decoded(() => this.#text.end());
  }

  #take(bytes: Buffer): Promise<void> | undefined {
    const { limits, hash } = this.#wanted;
    this.#receivedBytes += bytes.length;
    if (this.#receivedBytes > limits.bytes) throw tooManyBytes(limits);
    this.#values.add(bytes);
    if (this.#values.deepest > MAX_JSON_DEPTH) throw invalidJson(`more than ${MAX_JSON_DEPTH} levels of nesting`);
    if (this.#values.values > limits.values) throw tooManyValues(limits);
    this.#decoded(() => this.#text.add(bytes));
    hash?.update(bytes);
    if (this.#receivedBytes <= this.#roomBytes) return undefined;
    return this.#growForBytes(Math.min(limits.bytes, this.#receivedBytes * GROWTH) - this.#roomBytes);
  }

  /** A small body is cheaper to read than a key to look up: it hears of its other faults first. */
  async #growForBytes(bytes: number): Promise<void> {
    if (!this.#isKeyKnown && this.#roomBytes + bytes > FIRST_ROOM_BYTES) {
      this.#isKeyKnown = true;
      const refusal = await this.#wanted.findRefusal?.();
      if (refusal !== undefined) throw refusal;
    }
    await this.#grow(bytes);
  }

  async #grow(bytes: number): Promise<void> {
    this.#roomBytes += bytes;
    try {
      await this.place.grow(bytes);
    } catch (error) {
      throw error instanceof PlaceReleasedError ? new ClientLeftError() : error;
    }
  }

  #decoded<T>(action: () => T): T {
    try {
      return action();
    } catch (error) {
      if (error instanceof NotUtf8Error) throw new AppError('invalid_request', 'The body is not valid UTF-8.');
      throw error;
    }
  }
}

function invalidJson(problem: string): AppError {
  return new AppError('invalid_request', `The body is not valid JSON: ${problem}.`);
}

function wrongLength(): AppError {
  return new AppError('invalid_request', 'The body is not as long as the Content-Length header says.');
}
