// Sets of code points as the generated tables write them.

export const CODE_POINTS = 0x110000;

/** First and last code point of each run. @param runs gap and length of each run, in base 36 */
export function readRuns(runs: string): [first: number, last: number][] {
  let next = 0;
  return runs.split(' ').map((run) => {
    const [gap = '0', length = '0'] = run.split(',');
    const first = next + Number.parseInt(gap, 36);
    next = first + Number.parseInt(length, 36);
    return [first, next - 1];
  });
}

/** One byte of flags per code point. */
export function buildFlags(classes: readonly (readonly [runs: string, flag: number])[]): Uint8Array {
  const table = new Uint8Array(CODE_POINTS);
  for (const [runs, flag] of classes) {
    for (const [first, last] of readRuns(runs)) {
      for (let codePoint = first; codePoint <= last; codePoint++) table[codePoint] = (table[codePoint] ?? 0) | flag;
    }
  }
  return table;
}

/** The inside of a character class of a pattern with the flag `u`. */
export function toPatternRanges(runs: readonly (readonly [first: number, last: number])[]): string {
  const toEscape = (codePoint: number) => `\\u{${codePoint.toString(16)}}`;
  return runs.map(([first, last]) => `${toEscape(first)}-${toEscape(last)}`).join('');
}

/** Whether a text is one code point. */
export function isCodePoint(text: string): boolean {
  return text.length === ((text.codePointAt(0) ?? 0) > 0xffff ? 2 : 1);
}
