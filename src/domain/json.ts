// A strict JSON parser (RFC 8259) for texts that others wrote. Objects become Maps, whose names keep the order of the
// text, or plain objects. Any text is an ordinary name, "__proto__" too; a name given twice is an error where that is
// wanted. Linear in the length of the text, and it can stop in mid-text and go on later. Names never pass through
// JSON.parse: in Node 24 it may give one text's names to another.

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export type JsonObject = ReadonlyMap<string, JsonValue>;

export const MAX_JSON_DEPTH = 64;

/** Whether it is an object whose names keep their order. */
export function isJsonObject(value: JsonValue): value is JsonObject {
  return value instanceof Map;
}

/** Whether it is an object as `JSON.parse` makes them. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** Never quotes the text; says what was wrong and where. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError';
  /** Index into the text, in UTF-16 code units. */
  readonly position: number;

  constructor(problem: string, position: number) {
    super(`${problem} at character ${position}`);
    this.position = position;
  }
}

/** A member of the outermost object, by its place in the text. */
export interface JsonMember {
  readonly key: string;
  /** Offsets into the text: of the key's quote, of the value, and one past the value. */
  readonly start: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

export interface JsonRules {
  /** `maps` keep the order of names; `plain` objects move names like "10" to the front, as JSON.parse does. */
  readonly objects: 'maps' | 'plain';
  /** `last`: of equal names the last one counts, as with JSON.parse. */
  readonly duplicates: 'refuse' | 'last';
  /** Whether the members of the outermost object are listed. Default: no. */
  readonly listsMembers?: boolean;
}

const ORDERED: JsonRules = { objects: 'maps', duplicates: 'refuse' };
const PLAIN: JsonRules = { objects: 'plain', duplicates: 'last' };

/** Objects as Maps, names once. @throws JsonSyntaxError */
export function parseOrderedJson(text: string): JsonValue {
  const reading = new JsonReading(text, ORDERED);
  reading.advance();
  return reading.value as JsonValue;
}

/** What JSON.parse should give. @throws JsonSyntaxError */
export function parsePlainJson(text: string): unknown {
  const reading = new JsonReading(text, PLAIN);
  reading.advance();
  return reading.value;
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const LITERAL = /true|false|null/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what the grammar forbids here
const IS_PLAIN = /^[^\\\u0000-\u001f]*$/;
const [TAB, LINE_FEED, CARRIAGE_RETURN, SPACE] = [0x09, 0x0a, 0x0d, 0x20];
const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [0x7b, 0x7d, 0x5b, 0x5d];
const LITERALS: Readonly<Record<string, null | boolean>> = { true: true, false: false, null: null };
/** The clock is looked at once in so many values. */
const VALUES_BETWEEN_LOOKS = 256;

type PlainObject = Record<string, unknown>;
/** An object or array that is not at its end. */
type Open =
  | { readonly kind: 'array'; readonly container: unknown[] }
  | { readonly kind: 'map'; readonly container: Map<string, unknown>; name: string }
  | { readonly kind: 'plain'; readonly container: PlainObject; name: string };

type OpenObject = Exclude<Open, { kind: 'array' }>;

/** Stands for a value that is not at its end: a container with values to come, a long string. */
const UNFINISHED = Symbol('unfinished');
/** A string with escapes is read in pieces of so many UTF-16 code units: each a millisecond at most. */
const PIECE_LENGTH = 128 * 1024;
/** What an escape has at most: `\\u0000`. */
const LONGEST_ESCAPE = 6;
const LETTER_U = 0x75;

/** One text on its way to a value. */
export class JsonReading {
  readonly #text: string;
  readonly #rules: JsonRules;
  readonly #open: Open[] = [];
  #position = 0;
  readonly #members: JsonMember[] = [];
  /** Of the outermost object, whose value is being read. */
  #member: { readonly key: string; readonly start: number; readonly valueStart: number } | undefined;
  #valuesUntilLook = VALUES_BETWEEN_LOOKS;
  /** Whether a name comes next, not a value. */
  #isAtName = false;
  /** Pieces of a long string that have been read; the position is then within it. */
  #pieces: string[] | undefined;
  #stringStart = 0;
  #value: unknown;

  constructor(text: string, rules: JsonRules) {
    this.#text = text;
    this.#rules = rules;
    this.#skipWhitespace();
  }

  /** Complete once `advance` said so. */
  get value(): unknown {
    return this.#value;
  }

  /** In the order of the text, duplicates included; none unless the rules ask for them. */
  get members(): readonly JsonMember[] {
    return this.#members;
  }

  /**
   * Goes on to the end, or until the time is over.
   * @param untilMs of `performance.now()`
   * @returns whether the value is complete
   * @throws JsonSyntaxError
   */
  advance(untilMs = Number.POSITIVE_INFINITY): boolean {
    for (;;) {
      this.#valuesUntilLook -= 1;
      if (this.#valuesUntilLook < 0) {
        this.#valuesUntilLook = VALUES_BETWEEN_LOOKS;
        if (performance.now() >= untilMs) return false;
      }
      const value = this.#isAtName ? this.#readName() : this.#readValue();
      if (value !== UNFINISHED && this.#endOpened(value)) return true;
    }
  }

  #readValue(): unknown {
    const unit = this.#text.charCodeAt(this.#position);
    return unit === OPEN_OBJECT || unit === OPEN_ARRAY ? this.#enter(unit) : this.#readScalar();
  }

  /** @returns the container if it is empty; otherwise the position is that of its first value */
  #enter(unit: number): unknown {
    if (this.#open.length >= MAX_JSON_DEPTH) throw this.#error(`more than ${MAX_JSON_DEPTH} levels of nesting`);
    this.#position += 1;
    this.#skipWhitespace();
    const open = this.#newOpen(unit);
    if (this.#text.charCodeAt(this.#position) === (unit === OPEN_ARRAY ? CLOSE_ARRAY : CLOSE_OBJECT)) {
      this.#position += 1;
      return open.container;
    }
    this.#open.push(open);
    this.#isAtName = open.kind !== 'array';
    return UNFINISHED;
  }

  #newOpen(unit: number): Open {
    if (unit === OPEN_ARRAY) return { kind: 'array', container: [] };
    if (this.#rules.objects === 'maps') return { kind: 'map', container: new Map(), name: '' };
    return { kind: 'plain', container: {}, name: '' };
  }

  /** Puts a value where it belongs, and that into what it ends, and so on. @returns whether that was the last one */
  #endOpened(ended: unknown): boolean {
    let value = ended;
    for (;;) {
      if (this.#member !== undefined && this.#open.length === 1) this.#endMember(this.#member);
      this.#skipWhitespace();
      const parent = this.#open.at(-1);
      if (parent === undefined) {
        if (this.#position < this.#text.length) throw this.#error('unexpected text after the value');
        this.#value = value;
        return true;
      }
      add(parent, value);
      const unit = this.#text.charCodeAt(this.#position);
      if (unit === COMMA) {
        this.#position += 1;
        this.#skipWhitespace();
        this.#isAtName = parent.kind !== 'array';
        return false;
      }
      if (unit !== (parent.kind === 'array' ? CLOSE_ARRAY : CLOSE_OBJECT)) {
        throw this.#error(parent.kind === 'array' ? 'expected "," or "]"' : 'expected "," or "}"');
      }
      this.#position += 1;
      value = parent.container;
      this.#open.pop();
    }
  }

  #endMember(member: Omit<JsonMember, 'valueEnd'>): void {
    this.#members.push({ ...member, valueEnd: this.#position });
    this.#member = undefined;
  }

  /** The name of the next value, and what follows it up to the value. @returns UNFINISHED: no value has been read */
  #readName(): typeof UNFINISHED {
    const object = this.#open.at(-1);
    if (object === undefined || object.kind === 'array') throw new Error('No object is open.');
    const isBegun = this.#pieces !== undefined;
    if (!isBegun && this.#text.charCodeAt(this.#position) !== QUOTE)
      throw this.#error('expected a name in double quotes');
    const name = this.#readString();
    if (name === UNFINISHED) return UNFINISHED;
    this.#isAtName = false;
    object.name = name;
    if (this.#rules.duplicates === 'refuse' && has(object, name)) {
      throw new JsonSyntaxError('the same name twice in one object', this.#stringStart);
    }
    this.#skipWhitespace();
    if (this.#text.charCodeAt(this.#position) !== COLON) throw this.#error('expected ":"');
    this.#position += 1;
    this.#skipWhitespace();
    if (this.#rules.listsMembers === true && this.#open.length === 1) {
      this.#member = { key: name, start: this.#stringStart, valueStart: this.#position };
    }
    return UNFINISHED;
  }

  /** Begins at the quote, or where it stopped. */
  #readString(): string | typeof UNFINISHED {
    if (this.#pieces === undefined) {
      const start = this.#position;
      this.#stringStart = start;
      // Most strings are plain: found by their end, which is faster than to look at each character here.
      const end = this.#text.indexOf('"', start + 1);
      const plain = end < 0 ? undefined : this.#text.slice(start + 1, end);
      if (plain !== undefined && IS_PLAIN.test(plain)) {
        this.#position = end + 1;
        return plain;
      }
      this.#pieces = [];
      this.#position = start + 1;
    }
    return this.#readPiece(this.#pieces);
  }

  #readPiece(pieces: string[]): string | typeof UNFINISHED {
    const from = this.#position;
    const to = this.#endOfPiece(from);
    const isEnd = this.#text.charCodeAt(to) === QUOTE;
    // The built-in parser reads the escapes of a string alone: what it confuses are the names of objects.
    try {
      pieces.push(JSON.parse(`"${this.#text.slice(from, to)}"`) as string);
    } catch {
      throw new JsonSyntaxError('a bad escape in the string', this.#stringStart);
    }
    if (!isEnd) {
      this.#position = to;
      this.#valuesUntilLook = 0;
      return UNFINISHED;
    }
    this.#position = to + 1;
    this.#pieces = undefined;
    return pieces.length === 1 ? (pieces[0] ?? '') : pieces.join('');
  }

  /** @returns index of the closing quote, or of where a piece may be cut: never within an escape */
  #endOfPiece(from: number): number {
    const text = this.#text;
    const limit = from + PIECE_LENGTH;
    let at = from;
    while (at < text.length && at < limit) {
      const unit = text.charCodeAt(at);
      if (unit === QUOTE) return at;
      if (unit < SPACE) throw new JsonSyntaxError('a control character in a string', at);
      // Whatever is escaped, at least one character: a quote here does not end the string.
      if (unit === BACKSLASH) at += text.charCodeAt(at + 1) === LETTER_U ? this.#lengthOfCodeEscape(at) : 2;
      else at += 1;
    }
    if (at >= text.length) throw new JsonSyntaxError('a string without its end', text.length);
    return at;
  }

  /** Less than six where the string ends within it: the escape is then a bad one. */
  #lengthOfCodeEscape(at: number): number {
    let length = 2;
    while (length < LONGEST_ESCAPE && this.#text.charCodeAt(at + length) !== QUOTE) length += 1;
    return length;
  }

  #readScalar(): unknown {
    if (this.#pieces !== undefined || this.#text.charCodeAt(this.#position) === QUOTE) return this.#readString();
    const number = this.#match(NUMBER);
    if (number !== '') return Number(number);
    const literal = LITERALS[this.#match(LITERAL)];
    if (literal === undefined) throw this.#error('expected a value');
    return literal;
  }

  #skipWhitespace(): void {
    while (isWhitespace(this.#text.charCodeAt(this.#position))) this.#position += 1;
  }

  /** Moves past what the sticky pattern matches here. @returns it, '' when nothing does */
  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#position;
    const matched = pattern.exec(this.#text)?.[0] ?? '';
    this.#position += matched.length;
    return matched;
  }

  #error(problem: string): JsonSyntaxError {
    return new JsonSyntaxError(problem, Math.min(this.#position, this.#text.length));
  }
}

function isWhitespace(unit: number): boolean {
  return unit === SPACE || unit === LINE_FEED || unit === CARRIAGE_RETURN || unit === TAB;
}

function has(object: OpenObject, name: string): boolean {
  return object.kind === 'map' ? object.container.has(name) : Object.hasOwn(object.container, name);
}

function add(parent: Open, value: unknown): void {
  if (parent.kind === 'array') parent.container.push(value);
  else if (parent.kind === 'map') parent.container.set(parent.name, value);
  else if (parent.name !== '__proto__') parent.container[parent.name] = value;
  // Assigned, this name would set the prototype.
  else Object.defineProperty(parent.container, '__proto__', { value, ...OWN });
}

const OWN = { enumerable: true, writable: true, configurable: true } as const;
