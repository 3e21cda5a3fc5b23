// What a tokenizer.json puts around a text or a pair of texts before a model reads it. Which ids a text has is the
// tokenizers'.

import { unsupported } from './unsupported.ts';

export interface FrameIds {
  readonly ids: readonly number[];
  /** Token type of each, 0 or 1. */
  readonly type: number;
}

export interface FrameText {
  readonly text: 'first' | 'second';
  readonly type: number;
}

/** Special tokens and texts, in the order in which a model reads them. */
export type Frame = readonly (FrameIds | FrameText)[];

export interface Frames {
  readonly single: Frame;
  /** None where the file sets nothing between two texts. */
  readonly pair: Frame | undefined;
}

/** What a model reads. */
export interface FramedRow {
  readonly ids: Int32Array;
  /** `[ids]` */
  readonly types: Int32Array;
}

export interface FrameFile {
  readonly post_processor?: PostProcessor | null;
  readonly added_tokens?: readonly { readonly id: number; readonly content: string }[];
}

interface PostProcessor {
  readonly type?: string;
  readonly processors?: readonly PostProcessor[];
  readonly cls?: readonly [string, number];
  readonly sep?: readonly [string, number];
  readonly single?: readonly TemplatePiece[];
  readonly pair?: readonly TemplatePiece[];
  readonly special_tokens?: Readonly<Record<string, { readonly ids: readonly number[] }>>;
}

interface TemplatePiece {
  readonly Sequence?: { readonly id: string; readonly type_id: number };
  readonly SpecialToken?: { readonly id: string; readonly type_id: number };
}

const BARE: Frames = { single: [{ text: 'first', type: 0 }], pair: undefined };

/** @param file parsed tokenizer.json @throws StartError naming what is not supported */
export function readFrames({ post_processor: processor }: FrameFile): Frames {
  const framing = flatten(processor ?? undefined).filter(({ type }) => type !== 'ByteLevel');
  const [first, second] = framing;
  if (second !== undefined)
    throw unsupported(`a sequence of the post-processors ${String(first?.type)} and ${String(second.type)}`);
  if (first === undefined) return BARE;
  switch (first.type) {
    case 'TemplateProcessing':
      return readTemplate(first);
    case 'BertProcessing':
      return frameClassic(first, { separators: 1, secondType: 1 });
    case 'RobertaProcessing':
      return frameClassic(first, { separators: 2, secondType: 0 });
    default:
      throw unsupported(`a post-processor ${String(first.type)}`);
  }
}

/** Ids of the added tokens (`[MASK]`, `</s>`, …) by their text. */
export function readAddedIds({ added_tokens: tokens = [] }: FrameFile): ReadonlyMap<string, number> {
  return new Map(tokens.map(({ content, id }) => [content, id]));
}

/** Ids that a frame adds to its texts. */
export function countFrameIds(frame: Frame): number {
  return frame.reduce((sum, part) => sum + ('ids' in part ? part.ids.length : 0), 0);
}

/** @param second of a pair; a frame of one text does not ask for it */
export function fillFrame(frame: Frame, first: Int32Array, second?: Int32Array): FramedRow {
  const parts = frame.map((part) => {
    const ids = 'ids' in part ? part.ids : part.text === 'first' ? first : second;
    if (ids === undefined) throw new Error('a pair needs its second text');
    return { ids, type: part.type };
  });
  const length = parts.reduce((sum, { ids }) => sum + ids.length, 0);
  const row = { ids: new Int32Array(length), types: new Int32Array(length) };
  let place = 0;
  for (const { ids, type } of parts) {
    row.ids.set(ids, place);
    row.types.fill(type, place, place + ids.length);
    place += ids.length;
  }
  return row;
}

function flatten(processor: PostProcessor | undefined): PostProcessor[] {
  if (processor === undefined) return [];
  if (processor.type !== 'Sequence') return [processor];
  return (processor.processors ?? []).flatMap((part) => flatten(part));
}

function readTemplate({ single = [], pair = [], special_tokens: specials = {} }: PostProcessor): Frames {
  const read = (pieces: readonly TemplatePiece[]): Frame =>
    pieces.map(({ Sequence: text, SpecialToken: special }) => {
      if (text !== undefined) return { text: text.id === 'B' ? 'second' : 'first', type: text.type_id };
      const ids = special && specials[special.id]?.ids;
      if (ids === undefined) throw unsupported('a template with a token that it does not describe');
      return { ids, type: special?.type_id ?? 0 };
    });
  const [frame, pairFrame] = [read(single), read(pair)];
  requireTexts(frame, ['first']);
  return { single: frame, pair: isParting(pairFrame) ? requireTexts(pairFrame, ['first', 'second']) : undefined };
}

/** Each text once, the first before the second. */
function requireTexts(frame: Frame, texts: readonly string[]): Frame {
  const found = frame.flatMap((part) => ('text' in part ? [part.text] : []));
  if (found.join(' ') !== texts.join(' '))
    throw unsupported(`a template with the texts ${found.join(' ') || 'left out'}`);
  return frame;
}

function isParting(pair: Frame): boolean {
  const isText = (part: FrameIds | FrameText) => 'text' in part;
  return pair.slice(pair.findIndex(isText), pair.findLastIndex(isText)).some((part) => 'ids' in part);
}

function frameClassic(
  { cls, sep }: PostProcessor,
  { separators, secondType }: { readonly separators: number; readonly secondType: number },
): Frames {
  if (cls === undefined || sep === undefined) throw unsupported('a post-processor that does not name its tokens');
  const single: Frame = [{ ids: [cls[1]], type: 0 }, ...BARE.single, { ids: [sep[1]], type: 0 }];
  const before: Frame = [
    { ids: [cls[1]], type: 0 },
    ...BARE.single,
    { ids: Array<number>(separators).fill(sep[1]), type: 0 },
  ];
  return {
    single,
    pair: [...before, { text: 'second', type: secondType }, { ids: [sep[1]], type: secondType }],
  };
}
