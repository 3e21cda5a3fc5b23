// Somebody else's text made fit for a terminal: what would steer it, turn its reading direction round or hide from the eye
// is shown by its number instead. Pure.

/** Controls but tab and line feed. */
const CONTROLS = /(?![\t\n])\p{Cc}/gu;
/**
 * What turns the order of characters round or has no width: marks and overrides of direction, soft hyphens, invisible
 * operators, tags, halves of characters. Joiners are left where letters or emoji need them.
 */
const HIDDEN =
  /[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]|\p{Cs}/gu;
/** More marks on one letter than any language writes: they would run into the lines around it. */
const PILED_MARKS = /(\p{M}{8})\p{M}+/gu;
const PICTURES_START = 0x2400;
const DELETE = 0x7f;
const DELETE_PICTURE = '\u2421';

/** Lines are separated by line feeds; tabs are left. */
export function makeHarmless(text: string): string {
  return text
    .replace(/\r\n?|[\u2028\u2029\u0085]/g, '\n')
    .replace(CONTROLS, pictureOf)
    .replace(HIDDEN, numberOf)
    .replace(PILED_MARKS, '$1');
}

/** The same in one line. */
export function makeHarmlessLine(text: string): string {
  return makeHarmless(text).replace(/\s+/gu, ' ').trim();
}

function pictureOf(character: string): string {
  const code = character.charCodeAt(0);
  if (code === DELETE) return DELETE_PICTURE;
  return code < DELETE ? String.fromCharCode(PICTURES_START + code) : numberOf(character);
}

function numberOf(character: string): string {
  const digits = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `<U+${digits}>`;
}
