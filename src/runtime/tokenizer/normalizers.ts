// The normalisers of tokenizer.json that are supported, each exactly as the reference library runs it.

import { Charsmap } from './charsmap.ts';
import { readRuns, toPatternRanges } from './code-point-runs.ts';
import { STRIPPED } from './reference-tables.ts';
import { normalizeForm } from './unicode-forms.ts';
import { unsupported } from './unsupported.ts';

export interface NormalizerFile {
  readonly type?: string;
  readonly normalizers?: readonly NormalizerFile[];
  readonly precompiled_charsmap?: string;
  readonly strip_left?: boolean;
  readonly strip_right?: boolean;
  readonly prepend?: string;
  readonly pattern?: { readonly String?: string; readonly Regex?: string };
  readonly content?: string;
}

/** @param text well-formed */
export type Normalize = (text: string) => string;

export interface Normalizer {
  readonly normalize: Normalize;
  /** Whether a normalised text may be shorter than a quarter of the text. */
  readonly canShrink: boolean;
  /** Whether a piece at the start of the normalised text may not be from the start of the text, or one behind it may. */
  readonly movesStart: boolean;
}

const STAYS: Normalizer = { normalize: (text) => text, canShrink: false, movesStart: false };
/** Of XLM-R and its like; the only pattern in use. */
const REPLACED_PATTERNS = new Map([[' {2,}', / {2,}/gu]]);

/** @throws StartError naming what is not supported */
export function makeNormalizer(file: NormalizerFile | null | undefined): Normalizer {
  if (file === null || file === undefined) return STAYS;
  switch (file.type) {
    case 'Sequence':
      return makeSequence(file.normalizers ?? []);
    case 'Precompiled': {
      const charsmap = file.precompiled_charsmap ? new Charsmap(file.precompiled_charsmap) : undefined;
      return charsmap === undefined ? STAYS : losing((text) => charsmap.normalize(text));
    }
    case 'NFC':
    case 'NFD':
    case 'NFKC':
    case 'NFKD': {
      const form = file.type;
      return { ...STAYS, normalize: (text) => normalizeForm(text, form) };
    }
    case 'Lowercase':
      return { ...STAYS, normalize: lowercase };
    case 'StripAccents':
      return losing(stripAccents);
    case 'Strip':
      return losing((text) => strip(text, file));
    case 'Prepend':
      return { ...STAYS, normalize: (text) => (text === '' ? '' : `${file.prepend ?? ''}${text}`), movesStart: true };
    case 'Replace':
      return makeReplace(file);
    default:
      throw unsupported(`a normalizer ${String(file.type)}`);
  }
}

function losing(normalize: Normalize): Normalizer {
  return { normalize, canShrink: true, movesStart: true };
}

function makeSequence(files: readonly NormalizerFile[]): Normalizer {
  const parts = files.map((file) => makeNormalizer(file));
  return {
    normalize: (text) => parts.reduce((normalized, part) => part.normalize(normalized), text),
    canShrink: parts.some(({ canShrink }) => canShrink),
    movesStart: parts.some(({ movesStart }) => movesStart),
  };
}

function makeReplace({ pattern = {}, content = '' }: NormalizerFile): Normalizer {
  const { String: text, Regex: source } = pattern;
  const found = text ?? REPLACED_PATTERNS.get(source ?? '');
  if (found === undefined || found === '') throw unsupported(`a normalizer Replace with the pattern ${String(source)}`);
  const canShrink = text === undefined || content.length < text.length;
  return {
    normalize: (whole) => whole.replaceAll(found, () => content),
    canShrink,
    movesStart: content === '' || text === undefined,
  };
}

/** By code point: whole-string lower case knows a final sigma, which the reference does not. */
export function lowercase(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  let lower = '';
  for (const character of text) lower += character.toLowerCase();
  return lower;
}

export function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false;
  return true;
}

const ACCENTS = new RegExp(`[${toPatternRanges(readRuns(STRIPPED))}]+`, 'gu');

function stripAccents(text: string): string {
  return isAscii(text) ? text : text.replaceAll(ACCENTS, '');
}

const BLANK = /\p{White_Space}/u;

function strip(text: string, { strip_left: left = false, strip_right: right = false }: NormalizerFile): string {
  let [start, end] = [0, text.length];
  while (left && start < end && BLANK.test(text.charAt(start))) start += 1;
  while (right && end > start && BLANK.test(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}
