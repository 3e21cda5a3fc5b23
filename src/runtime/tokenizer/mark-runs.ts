// Combining marks by the hundred, one after the other: decomposed and sorted as the reference library does, in time that
// does not grow with the square of their number, as `String.normalize` does.

import { COMBINING_CLASSES } from './character-classes.ts';
import { isCodePoint } from './code-point-runs.ts';

/** Canonical combining class of every code point where it is not 0. */
const classes = readClasses();

function readClasses(): Map<number, number> {
  const found = new Map<number, number>();
  let next = 0;
  for (const run of COMBINING_CLASSES.split(' ')) {
    const [gap = 0, length = 0, combiningClass = 0] = run.split(',').map((digits) => Number.parseInt(digits, 36));
    const start = next + gap;
    next = start + length;
    for (let codePoint = start; codePoint < next; codePoint++) found.set(codePoint, combiningClass);
  }
  return found;
}

interface WaitingMark {
  readonly character: string;
  readonly combiningClass: number;
}

/** The decomposed run without the characters that are removed. */
export function stripMarkRun(run: string, isRemoved: (character: string) => boolean): string {
  let stripped = '';
  let waiting: WaitingMark[] = [];
  for (const character of decompose(run)) {
    const combiningClass = classes.get(character.codePointAt(0) ?? 0) ?? 0;
    if (combiningClass === 0) {
      stripped += sortedMarks(waiting);
      waiting = [];
    }
    if (isRemoved(character)) continue;
    if (combiningClass === 0) stripped += character;
    else waiting.push({ character, combiningClass });
  }
  return stripped + sortedMarks(waiting);
}

/** A run normalised as a whole. Characters that the reference does not know must not be in it. */
export function composeMarkRun(run: string, form: 'NFC' | 'NFD' | 'NFKC' | 'NFKD'): string {
  const isCompatible = form === 'NFKC' || form === 'NFKD';
  const sorted = sortMarks(decompose(run, isCompatible ? 'NFKD' : 'NFD'));
  return form === 'NFD' || form === 'NFKD' ? sorted.map(({ character }) => character).join('') : compose(sorted);
}

function sortMarks(characters: Iterable<string>): WaitingMark[] {
  const sorted: WaitingMark[] = [];
  let waiting: WaitingMark[] = [];
  const flush = () => {
    for (const mark of waiting.sort((a, b) => a.combiningClass - b.combiningClass)) sorted.push(mark);
    waiting = [];
  };
  for (const character of characters) {
    const combiningClass = classes.get(character.codePointAt(0) ?? 0) ?? 0;
    if (combiningClass === 0) flush();
    waiting.push({ character, combiningClass });
  }
  flush();
  return sorted;
}

/** The standard's algorithm: a mark joins the last starter unless a mark of its class or above stands between. */
function compose(sorted: readonly WaitingMark[]): string {
  let composed = '';
  let starter = '';
  let [marks, lastClass] = ['', -1];
  for (const { character, combiningClass } of sorted) {
    const joined = starter !== '' && lastClass < combiningClass ? `${starter}${character}`.normalize('NFC') : '';
    if (joined !== '' && isCodePoint(joined)) {
      starter = joined;
    } else if (combiningClass === 0) {
      composed += starter + marks;
      [starter, marks, lastClass] = [character, '', -1];
    } else {
      marks += character;
      lastClass = combiningClass;
    }
  }
  return composed + starter + marks;
}

/** Character by character: nothing is sorted. */
function* decompose(text: string, form: 'NFD' | 'NFKD' = 'NFD'): Generator<string> {
  for (const character of text) yield* character.normalize(form);
}

function sortedMarks(marks: readonly WaitingMark[]): string {
  const sorted = marks.toSorted((a, b) => a.combiningClass - b.combiningClass);
  return sorted.map(({ character }) => character).join('');
}
