// How many cells of a terminal a text takes, and lines of no more than so many. Pure; the text must be harmless.

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });
const TAB_CELLS = 4;
/** UTF-16 units: a letter with all its marks. */
const MOST_UNITS_PER_CELL = 16;
const IS_PLAIN = /^[\x20-\x7e]*$/;
const NO_WIDTH = /^[\p{Mn}\p{Me}\u200c\u200d]$/u;
/** East Asian Wide and Fullwidth, and what is shown as a picture. */
const WIDE =
  /^[\u1100-\u115f\u231a\u231b\u2329\u232a\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]$|^\p{Emoji_Presentation}$/u;
/** Shows the picture of a character that has a text form, too. */
const PICTURE_SELECTOR = '\ufe0f';

/** Never too few: a family of emoji counts as its members, for terminals that cannot join them. */
export function cellsOf(text: string): number {
  if (IS_PLAIN.test(text)) return text.length;
  let cells = 0;
  for (const { segment } of segmenter.segment(text)) cells += widthOfCharacter(segment);
  return cells;
}

/** @param character as a reader sees it: one grapheme */
function widthOfCharacter(character: string): number {
  let cells = 0;
  for (const point of character) {
    if (point === '\t') cells += TAB_CELLS;
    else if (!NO_WIDTH.test(point)) cells += WIDE.test(point) ? 2 : 1;
  }
  return character.includes(PICTURE_SELECTOR) ? Math.max(2, cells) : cells;
}

/** Cut to so many cells, its end shown by a sign. */
export function cutTo(text: string, cells: number): string {
  if (cellsOf(text) <= cells) return text;
  return `${splitAt(text, cells - 1)[0]}…`;
}

/** Filled with spaces on its right. */
export function padTo(text: string, cells: number): string {
  return text + ' '.repeat(Math.max(0, cells - cellsOf(text)));
}

/** As lines, broken between words where there are any. An empty line stays one. @param cells 2 or more */
export function wrapCells(text: string, cells: number): string[] {
  return text.split('\n').flatMap((line) => wrapLine(line.replaceAll('\t', ' '.repeat(TAB_CELLS)), cells));
}

function wrapLine(line: string, cells: number): string[] {
  const lines: string[] = [];
  let rest = line.trimEnd();
  for (let [head, tail] = splitAt(rest, cells); tail !== ''; [head, tail] = splitAt(rest, cells)) {
    const space = tail.startsWith(' ') ? head.length : head.lastIndexOf(' ');
    // A word that is as long as half the line is broken: the eye finds it again.
    const end = space > head.length / 2 ? space : head.length;
    lines.push(rest.slice(0, end).trimEnd());
    rest = rest.slice(end).trimStart();
  }
  return [...lines, rest];
}

/** @returns as many characters as so many cells take, at least one; and the others */
function splitAt(text: string, cells: number): [head: string, tail: string] {
  // Not all of a long line has to be looked at for the beginning of it.
  const near = text.slice(0, (cells + 1) * MOST_UNITS_PER_CELL);
  if (IS_PLAIN.test(near)) return [text.slice(0, cells), text.slice(cells)];
  let [taken, end] = [0, 0];
  for (const { segment, index } of segmenter.segment(near)) {
    const width = widthOfCharacter(segment);
    if (taken + width > cells && index > 0) break;
    taken += width;
    end = index + segment.length;
  }
  return [text.slice(0, end), text.slice(end)];
}
