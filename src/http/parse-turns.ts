// Parses large bodies in short turns, one turn in each round of the event loop, so that no body of any shape keeps others
// waiting for longer than a turn.

import type { JsonReading } from '../domain/json.ts';

/** A request takes several rounds of the event loop, and may wait for a turn in each. */
const TURN_MS = 1;
/** UTF-16 code units. A shorter text is parsed at once: a tenth of a millisecond. */
const LONGEST_AT_ONCE = 16 * 1024;

interface Parse {
  readonly reading: JsonReading;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export class ParseTurns {
  readonly #queue: Parse[] = [];
  #isScheduled = false;

  /** @param length of the text that is read @throws JsonSyntaxError */
  async parse(reading: JsonReading, length: number): Promise<unknown> {
    if (length <= LONGEST_AT_ONCE) {
      reading.advance();
      return reading.value;
    }
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#queue.push({ reading, resolve, reject });
    this.#schedule();
    return await promise;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#queue.length === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#takeTurn();
      this.#schedule();
    });
  }

  #takeTurn(): void {
    const parse = this.#queue.shift();
    if (parse === undefined) return;
    try {
      // What is done with the value is a turn of its own.
      if (parse.reading.advance(performance.now() + TURN_MS)) setImmediate(() => parse.resolve(parse.reading.value));
      else this.#queue.push(parse);
    } catch (error) {
      parse.reject(error);
    }
  }
}
