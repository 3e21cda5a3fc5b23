// Every tokenizer.json that is not BERT's (byte-level BPE, Unigram, …), through @huggingface/tokenizers. Owns how the
// library is held to our rules: special tokens never come from a text.

import { Tokenizer as Library } from '@huggingface/tokenizers';
import { StartError } from '../start-error.ts';
import { type EncodedTexts, encodeEach, type SpecialIds, type Tokenizer } from './tokenizer.ts';

interface LibraryFile {
  readonly added_tokens?: readonly { readonly special?: boolean }[];
}

export class LibraryTokenizer implements Tokenizer {
  readonly special: SpecialIds;
  readonly vocabularySize: number;
  readonly #library: Library;

  /** @param file parsed tokenizer.json @throws StartError when it does not frame a text with one special token a side */
  constructor(file: object) {
    this.special = readSpecials(new Library(file, {}));
    this.#library = new Library(forgetSpecials(file), {});
    this.vocabularySize = sizeOf(this.#library);
  }

  /** The library reads to the end whatever the limit is. */
  encode(text: string): Int32Array {
    return Int32Array.from(this.#library.encode(text.toWellFormed(), { add_special_tokens: false }).ids);
  }

  encodeAll(texts: readonly string[]): EncodedTexts {
    return encodeEach(texts, (text) => this.encode(text));
  }
}

/** The library looks for special tokens in every text: it must not know them while it reads one. */
function forgetSpecials(file: LibraryFile): object {
  return { ...file, added_tokens: (file.added_tokens ?? []).filter(({ special }) => special !== true) };
}

function readSpecials(library: Library): SpecialIds {
  const [cls, sep, ...more] = library.encode('').ids;
  if (cls === undefined || sep === undefined || more.length > 0) {
    throw new StartError('tokenizer.json: a text must stand between exactly two special tokens');
  }
  return { cls, sep };
}

function sizeOf(library: Library): number {
  let size = 0;
  for (const id of library.get_vocab(true).values()) size = Math.max(size, id + 1);
  return size;
}
