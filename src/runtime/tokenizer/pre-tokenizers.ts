// The pre-tokenisers of tokenizer.json that are supported: a normalised text to the pieces that a model reads one by one.

import { BYTE_LEVEL_PATTERN, type FindSpans, makePattern, makeTextPattern, type Span } from './split-pattern.ts';
import { unsupported } from './unsupported.ts';

export interface PreTokenizerFile {
  readonly type?: string;
  readonly pretokenizers?: readonly PreTokenizerFile[];
  readonly add_prefix_space?: boolean;
  readonly use_regex?: boolean;
  readonly replacement?: string;
  readonly prepend_scheme?: string;
  readonly split?: boolean;
  readonly pattern?: { readonly String?: string; readonly Regex?: string };
  readonly behavior?: string;
  readonly invert?: boolean;
  readonly individual_digits?: boolean;
}

/** A piece of a text. */
export interface TextPiece {
  readonly text: string;
  /** Whether it begins the whole text. */
  readonly isFirst: boolean;
}

type Split = (piece: TextPiece) => Iterable<TextPiece>;

export interface PreTokenizer {
  readonly split: Split;
  /** Whether pieces are to be read byte by byte. */
  readonly isByteLevel: boolean;
  /** Whether some of a text may be in no piece. */
  readonly canDrop: boolean;
  /** Whether it asks which piece is the first. */
  readonly needsFirst: boolean;
}

const WHOLE: PreTokenizer = { split: (piece) => [piece], isByteLevel: false, canDrop: false, needsFirst: false };

/** @throws StartError naming what is not supported */
export function makePreTokenizer(file: PreTokenizerFile | null | undefined): PreTokenizer {
  if (file === null || file === undefined) return WHOLE;
  switch (file.type) {
    case 'Sequence':
      return makeSequence(file.pretokenizers ?? []);
    case 'ByteLevel':
      return makeByteLevel(file);
    case 'Metaspace':
      return makeMetaspace(file);
    case 'Split':
      return makeSplit(file);
    case 'Digits':
      return { ...WHOLE, split: bySpans(makePattern(file.individual_digits ? DIGIT : `${DIGIT}+`), 'Isolated') };
    case 'WhitespaceSplit':
      return { ...WHOLE, split: bySpans(makePattern(String.raw`\s`), 'Removed'), canDrop: true };
    default:
      throw unsupported(`a pre-tokenizer ${String(file.type)}`);
  }
}

const DIGIT = String.raw`\p{N}`;

function makeSequence(files: readonly PreTokenizerFile[]): PreTokenizer {
  const parts = files.map((file) => makePreTokenizer(file));
  if (parts.slice(0, -1).some(({ isByteLevel }) => isByteLevel)) {
    throw unsupported('a pre-tokenizer ByteLevel before another one');
  }
  const [first = WHOLE.split, ...more] = parts.map(({ split }) => split);
  return {
    split: more.reduce((before, split) => chain(before, split), first),
    isByteLevel: parts.some(({ isByteLevel }) => isByteLevel),
    canDrop: parts.some(({ canDrop }) => canDrop),
    needsFirst: parts.some(({ needsFirst }) => needsFirst),
  };
}

function chain(before: Split, after: Split): Split {
  return function* split(piece) {
    for (const part of before(piece)) yield* after(part);
  };
}

function makeByteLevel({ add_prefix_space: addsSpace = true, use_regex: usesPattern = true }: PreTokenizerFile) {
  const cut = usesPattern ? bySpans(makePattern(BYTE_LEVEL_PATTERN), 'Isolated') : WHOLE.split;
  const split: Split = ({ text, isFirst }) =>
    cut({ text: addsSpace && !text.startsWith(' ') ? ` ${text}` : text, isFirst });
  return { ...WHOLE, split, isByteLevel: true };
}

function makeMetaspace(file: PreTokenizerFile): PreTokenizer {
  const { replacement = '▁', split: isSplit = true } = file;
  const scheme = file.prepend_scheme ?? 'always';
  if (!['always', 'first', 'never'].includes(scheme)) throw unsupported(`the prepend_scheme ${scheme}`);
  if (file.add_prefix_space === false && scheme !== 'never') {
    throw unsupported(`add_prefix_space false with the prepend_scheme ${scheme}`);
  }
  const cut = isSplit ? bySpans(makeTextPattern(replacement), 'MergedWithNext') : WHOLE.split;
  const split: Split = ({ text, isFirst }) => {
    const spaced = text.replaceAll(' ', replacement);
    const isPrepended = scheme === 'always' || (scheme === 'first' && isFirst);
    return cut({ text: isPrepended && !spaced.startsWith(replacement) ? replacement + spaced : spaced, isFirst });
  };
  return { ...WHOLE, split, needsFirst: scheme === 'first' };
}

function makeSplit({ pattern = {}, behavior = '', invert = false }: PreTokenizerFile): PreTokenizer {
  const find = pattern.String === undefined ? makePattern(pattern.Regex ?? '') : makeTextPattern(pattern.String);
  const inverted: FindSpans = function* findInverted(text) {
    for (const span of find(text)) yield { ...span, isMatch: !span.isMatch };
  };
  return { ...WHOLE, split: bySpans(invert ? inverted : find, behavior), canDrop: behavior === 'Removed' };
}

function bySpans(find: FindSpans, behavior: string): Split {
  const arrange = ARRANGEMENTS.get(behavior);
  if (arrange === undefined) throw unsupported(`the split behavior ${behavior}`);
  return function* split({ text, isFirst }) {
    for (const { start, end } of arrange(find(text))) {
      yield { text: text.slice(start, end), isFirst: isFirst && start === 0 };
    }
  };
}

interface Range {
  readonly start: number;
  readonly end: number;
}

const ARRANGEMENTS = new Map<string, (spans: Iterable<Span>) => Iterable<Range>>([
  ['Isolated', (spans) => spans],
  ['Removed', removeMatches],
  ['MergedWithPrevious', mergeWithPrevious],
  ['MergedWithNext', mergeWithNext],
]);

function* removeMatches(spans: Iterable<Span>): Generator<Range> {
  for (const span of spans) if (!span.isMatch) yield span;
}

/** Of matches in a row, the first alone goes to what stands before it. */
function* mergeWithPrevious(spans: Iterable<Span>): Generator<Range> {
  let waiting: Span | undefined;
  for (const span of spans) {
    if (waiting !== undefined && span.isMatch && !waiting.isMatch) {
      yield { start: waiting.start, end: span.end };
      waiting = undefined;
      continue;
    }
    if (waiting !== undefined) yield waiting;
    waiting = span;
  }
  if (waiting !== undefined) yield waiting;
}

/** Of matches in a row, the last alone goes to what comes after it. */
function* mergeWithNext(spans: Iterable<Span>): Generator<Range> {
  let waiting: Span | undefined;
  for (const span of spans) {
    if (waiting?.isMatch && !span.isMatch) {
      yield { start: waiting.start, end: span.end };
      waiting = undefined;
      continue;
    }
    if (waiting !== undefined) yield waiting;
    waiting = span;
  }
  if (waiting !== undefined) yield waiting;
}
