// What the model families need of a tokenizer, and which one reads a tokenizer.json. No text is ever read as a special
// token and nothing is cut; special ids are placed by the families.

export interface SpecialIds {
  readonly cls: number;
  readonly sep: number;
}

export interface Tokenizer {
  /** What stands before and after every sequence. */
  readonly special: SpecialIds;
  /** Ids are 0 to `vocabularySize` − 1. */
  readonly vocabularySize: number;
  /** Ids without specials. */
  encode(text: string): number[];
}
