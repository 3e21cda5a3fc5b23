// A strict JSON parser (RFC 8259) whose objects are Maps: names keep the order of the text, even "10" before "2", any
// text is an ordinary name, "__proto__" too, and a name given twice is an error. JSON.parse can do none of the three.
// Linear in the length of the text; nesting is bounded, so the recursion is too.

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export type JsonObject = ReadonlyMap<string, JsonValue>;

export const MAX_JSON_DEPTH = 64;

export function isObject(value: JsonValue): value is JsonObject {
  return value instanceof Map;
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

/** @throws JsonSyntaxError */
export function parseOrderedJson(text: string): JsonValue {
  return new Parser(text).parseDocument();
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const LITERAL = /true|false|null/y;
// Up to the first quote, escape or control character.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what the grammar forbids here
const PLAIN_CHARACTERS = /[^"\\\u0000-\u001f]*/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the same
const IS_PLAIN = /^[^\\\u0000-\u001f]*$/;
const [TAB, LINE_FEED, CARRIAGE_RETURN, SPACE] = [0x09, 0x0a, 0x0d, 0x20];
const LITERALS: Readonly<Record<string, null | boolean>> = { true: true, false: false, null: null };

class Parser {
  readonly #text: string;
  #position = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parseDocument(): JsonValue {
    this.#skipWhitespace();
    const value = this.#parseValue(0);
    if (this.#position < this.#text.length) throw this.#error('unexpected text after the value');
    return value;
  }

  // Leaves the position after the value and the whitespace that follows it.
  #parseValue(depth: number): JsonValue {
    const start = this.#text[this.#position];
    let value: JsonValue;
    if (start === '"') value = this.#parseString();
    else if (start === '{') value = this.#parseObject(depth + 1);
    else if (start === '[') value = this.#parseArray(depth + 1);
    else value = this.#parseNumberOrLiteral();
    this.#skipWhitespace();
    return value;
  }

  #parseObject(depth: number): JsonObject {
    this.#enter(depth);
    const entries = new Map<string, JsonValue>();
    if (this.#take('}')) return entries;
    do {
      this.#skipWhitespace();
      const namePosition = this.#position;
      if (this.#text[namePosition] !== '"') throw this.#error('expected a name in double quotes');
      const name = this.#parseString();
      if (entries.has(name)) throw new JsonSyntaxError('the same name twice in one object', namePosition);
      this.#skipWhitespace();
      if (!this.#take(':')) throw this.#error('expected ":"');
      this.#skipWhitespace();
      entries.set(name, this.#parseValue(depth));
    } while (this.#take(','));
    if (!this.#take('}')) throw this.#error('expected "," or "}"');
    return entries;
  }

  #parseArray(depth: number): readonly JsonValue[] {
    this.#enter(depth);
    const items: JsonValue[] = [];
    if (this.#take(']')) return items;
    do {
      this.#skipWhitespace();
      items.push(this.#parseValue(depth));
    } while (this.#take(','));
    if (!this.#take(']')) throw this.#error('expected "," or "]"');
    return items;
  }

  #enter(depth: number): void {
    if (depth > MAX_JSON_DEPTH) throw this.#error(`more than ${MAX_JSON_DEPTH} levels of nesting`);
    this.#position += 1;
    this.#skipWhitespace();
  }

  #parseString(): string {
    const start = this.#position;
    this.#position += 1;
    const plain = this.#takePlainString();
    if (plain !== undefined) return plain;
    this.#match(PLAIN_CHARACTERS);
    if (this.#take('"')) return this.#text.slice(start + 1, this.#position - 1);
    while (this.#text[this.#position] === '\\') {
      // Whatever is escaped, at least one character: a quote here does not end the string.
      this.#position += 2;
      this.#match(PLAIN_CHARACTERS);
    }
    if (!this.#take('"')) {
      const atEnd = this.#position >= this.#text.length;
      throw this.#error(atEnd ? 'a string without its end' : 'a control character in a string');
    }
    // The built-in parser reads the escapes; the text has been cut to exactly one string.
    try {
      return JSON.parse(this.#text.slice(start, this.#position)) as string;
    } catch {
      throw new JsonSyntaxError('a bad escape in the string', start);
    }
  }

  /** Most strings are plain: found by their end, which is faster than to match them. Leaves the position if it is not. */
  #takePlainString(): string | undefined {
    const end = this.#text.indexOf('"', this.#position);
    if (end < 0) return undefined;
    const plain = this.#text.slice(this.#position, end);
    if (!IS_PLAIN.test(plain)) return undefined;
    this.#position = end + 1;
    return plain;
  }

  /** Mostly there is none: looked at before anything is matched. */
  #skipWhitespace(): void {
    for (;;) {
      const unit = this.#text.charCodeAt(this.#position);
      if (unit !== SPACE && unit !== LINE_FEED && unit !== CARRIAGE_RETURN && unit !== TAB) return;
      this.#position += 1;
    }
  }

  #parseNumberOrLiteral(): JsonValue {
    const number = this.#match(NUMBER);
    if (number !== '') return Number(number);
    const literal = LITERALS[this.#match(LITERAL)];
    if (literal === undefined) throw this.#error('expected a value');
    return literal;
  }

  #take(character: string): boolean {
    if (this.#text[this.#position] !== character) return false;
    this.#position += 1;
    return true;
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
