// Added tokens of a tokenizer.json: the special ones, which no text ever gives, and the others, which are found in a text
// before anything else is.

import type { Frames } from './frames.ts';
import type { Normalize } from './normalizers.ts';
import { TokenTrie } from './token-trie.ts';
import { unsupported } from './unsupported.ts';

export interface AddedToken {
  readonly id: number;
  readonly content: string;
  readonly special?: boolean;
  readonly normalized?: boolean;
  readonly single_word?: boolean;
  readonly lstrip?: boolean;
  readonly rstrip?: boolean;
}

/** Special whatever the file says. */
const SPECIAL_NAME = /^(?:\[(?:PAD|UNK|CLS|SEP|MASK)\]|<\/?(?:s|pad|unk|mask|bos|eos|cls|sep)>|<\|.+\|>)$/u;

export function isSpecialToken({ id, content, special }: AddedToken, frames: Frames): boolean {
  const isFramed = [...frames.single, ...(frames.pair ?? [])].some((part) => 'ids' in part && part.ids.includes(id));
  return special === true || isFramed || SPECIAL_NAME.test(content);
}

/** @throws StartError naming what is not supported */
export function checkPlainTokens(tokens: readonly AddedToken[]): void {
  for (const { single_word: isWord, lstrip, rstrip } of tokens) {
    if (isWord || lstrip || rstrip) throw unsupported('an added token with single_word, lstrip or rstrip');
  }
}

/** A part of a text: a token, or what is between tokens. */
export type TextPart = { readonly id: number } | { readonly text: string; readonly start: number };

export class AddedTokens {
  readonly #trie: TokenTrie | undefined;
  readonly longestToken: number;

  /** @param normalize of tokens that are looked for in normalised texts */
  constructor(tokens: readonly AddedToken[], normalize: Normalize) {
    const entries = tokens.map(({ content, id }) => [normalize(content), id] as const).filter(([text]) => text !== '');
    this.#trie = entries.length === 0 ? undefined : new TokenTrie(entries.length);
    for (const [text, id] of entries) this.#trie?.add(text, id);
    this.longestToken = entries.reduce((longest, [text]) => Math.max(longest, text.length), 1);
  }

  /** The first token, of those that begin there the longest; of an empty text nothing. */
  *split(text: string): Generator<TextPart> {
    let start = 0;
    for (let place = 0; this.#trie !== undefined && place < text.length; ) {
      const { id, end } = longestAt(this.#trie, text, place);
      if (id < 0) {
        place += 1;
        continue;
      }
      if (place > start) yield { text: text.slice(start, place), start };
      yield { id };
      start = end;
      place = end;
    }
    if (start < text.length) yield { text: start === 0 ? text : text.slice(start), start };
  }
}

function longestAt(trie: TokenTrie, text: string, place: number) {
  const longest = { id: -1, end: place };
  let node = 0;
  for (let end = place; end < text.length; ) {
    node = trie.step(node, text.charCodeAt(end));
    if (node < 0) break;
    end += 1;
    const id = trie.idAt(node);
    if (id >= 0) Object.assign(longest, { id, end });
  }
  return longest;
}
