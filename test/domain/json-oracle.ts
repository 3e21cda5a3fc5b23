// JSON as RFC 8259 writes it down, one character after the other, without the built-in parser and without ours: what both
// are judged by. Slow, and recursive.

export type Tree =
  | { readonly kind: 'object'; readonly members: readonly (readonly [name: string, value: Tree])[] }
  | { readonly kind: 'array'; readonly items: readonly Tree[] }
  | { readonly kind: 'plain'; readonly value: string | number | boolean | null };

/** @returns undefined for what is no JSON */
export function readTree(text: string): Tree | undefined {
  const reader = new Reader(text);
  try {
    return reader.document();
  } catch (error) {
    if (error instanceof NoJsonError) return undefined;
    throw error;
  }
}

export function hasDuplicates(tree: Tree): boolean {
  if (tree.kind === 'array') return tree.items.some(hasDuplicates);
  if (tree.kind === 'plain') return false;
  const names = tree.members.map(([name]) => name);
  return new Set(names).size < names.length || tree.members.some(([, value]) => hasDuplicates(value));
}

/** As the built-in parser should build it: of equal names the last one counts, each is an own property. */
export function toObjects(tree: Tree): unknown {
  if (tree.kind === 'plain') return tree.value;
  if (tree.kind === 'array') return tree.items.map(toObjects);
  const object = {};
  for (const [name, value] of tree.members) {
    const own = { value: toObjects(value), enumerable: true, writable: true, configurable: true };
    Object.defineProperty(object, name, own);
  }
  return object;
}

/** As Maps, in the order of the text. */
export function toMaps(tree: Tree): unknown {
  if (tree.kind === 'plain') return tree.value;
  if (tree.kind === 'array') return tree.items.map(toMaps);
  return new Map(tree.members.map(([name, value]) => [name, toMaps(value)]));
}

class NoJsonError extends Error {}

const WHITESPACE = ' \n\r\t';
const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): Tree {
    const tree = this.#value();
    if (this.#at < this.#text.length) throw new NoJsonError();
    return tree;
  }

  #value(): Tree {
    this.#space();
    const next = this.#text.charAt(this.#at);
    let tree: Tree;
    if (next === '{') tree = this.#object();
    else if (next === '[') tree = this.#array();
    else if (next === '"') tree = { kind: 'plain', value: this.#string() };
    else tree = this.#word();
    this.#space();
    return tree;
  }

  #object(): Tree {
    this.#expect('{');
    const members: (readonly [string, Tree])[] = [];
    this.#space();
    if (this.#takes('}')) return { kind: 'object', members };
    do {
      this.#space();
      const name = this.#string();
      this.#space();
      this.#expect(':');
      members.push([name, this.#value()]);
    } while (this.#takes(','));
    this.#expect('}');
    return { kind: 'object', members };
  }

  #array(): Tree {
    this.#expect('[');
    const items: Tree[] = [];
    this.#space();
    if (this.#takes(']')) return { kind: 'array', items };
    do items.push(this.#value());
    while (this.#takes(','));
    this.#expect(']');
    return { kind: 'array', items };
  }

  #string(): string {
    this.#expect('"');
    let read = '';
    for (;;) {
      const next = this.#text.charAt(this.#at++);
      if (next === '"') return read;
      if (next === '' || next < ' ') throw new NoJsonError();
      read += next === '\\' ? this.#escape() : next;
    }
  }

  #escape(): string {
    const letter = this.#text.charAt(this.#at++);
    if (letter !== 'u') {
      const short = SHORT_ESCAPES[letter];
      if (short === undefined) throw new NoJsonError();
      return short;
    }
    let unit = 0;
    for (let digit = 0; digit < 4; digit++) {
      const value = '0123456789abcdef'.indexOf(this.#text.charAt(this.#at++).toLowerCase() || '-');
      if (value < 0) throw new NoJsonError();
      unit = unit * 16 + value;
    }
    return String.fromCharCode(unit);
  }

  #word(): Tree {
    for (const [word, value] of [
      ['true', true],
      ['false', false],
      ['null', null],
    ] as const) {
      if (this.#text.startsWith(word, this.#at)) {
        this.#at += word.length;
        return { kind: 'plain', value };
      }
    }
    return { kind: 'plain', value: this.#number() };
  }

  #number(): number {
    const from = this.#at;
    this.#takes('-');
    if (!this.#takes('0')) this.#digits();
    if (this.#takes('.')) this.#digits();
    if (this.#takes('e') || this.#takes('E')) {
      if (!this.#takes('+')) this.#takes('-');
      this.#digits();
    }
    return Number(this.#text.slice(from, this.#at));
  }

  #digits(): void {
    const from = this.#at;
    while (this.#at < this.#text.length && '0123456789'.includes(this.#text.charAt(this.#at))) this.#at++;
    if (this.#at === from) throw new NoJsonError();
  }

  #space(): void {
    while (this.#at < this.#text.length && WHITESPACE.includes(this.#text.charAt(this.#at))) this.#at++;
  }

  #takes(character: string): boolean {
    if (this.#text.charAt(this.#at) !== character) return false;
    this.#at++;
    return true;
  }

  #expect(character: string): void {
    if (!this.#takes(character)) throw new NoJsonError();
  }
}
