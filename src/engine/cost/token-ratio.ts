// Door of cost, for tokens that nobody counted: how many a text has, told from its characters: a guess by scripts, corrected
// by what was counted. Pure.

/** What an older text still weighs after a newer one. */
const MEMORY = 0.95;
/** English prose; the guess weighs as much as a short paragraph. */
const INITIAL_TOKENS_PER_LETTER = 0.22;
const PRIOR_LETTERS = 200;
/** Code units of a long text that are looked at. */
const SAMPLE = 256;
/** Against a letter of ASCII: words of other alphabets fall into more pieces, an ideograph is a token of its own. */
const OTHER_LETTER = 2.2;
const IDEOGRAPH = 4.5;
const FIRST_IDEOGRAPH = 0x2e80;

export class TokenRatio {
  #letters = PRIOR_LETTERS;
  #tokens = PRIOR_LETTERS * INITIAL_TOKENS_PER_LETTER;

  /** Content tokens to be expected, without specials. @param letters as `countLetters` gives them */
  estimate(letters: number): number {
    return (letters * this.#tokens) / this.#letters;
  }

  observe(letters: number, tokens: number): void {
    if (letters <= 0) return;
    this.#letters = MEMORY * this.#letters + letters;
    this.#tokens = MEMORY * this.#tokens + tokens;
  }
}

/** Length of a text in letters of ASCII, from a sample of its code units. */
export function countLetters(text: string): number {
  const step = Math.max(1, Math.floor(text.length / SAMPLE));
  let [letters, seen] = [0, 0];
  for (let at = 0; at < text.length; at += step) {
    const unit = text.charCodeAt(at);
    letters += unit < 0x80 ? 1 : unit < FIRST_IDEOGRAPH ? OTHER_LETTER : IDEOGRAPH;
    seen += 1;
  }
  return seen === 0 ? 0 : (letters * text.length) / seen;
}
