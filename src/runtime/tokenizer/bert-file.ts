// What a tokenizer.json of BERT's WordPiece says, checked. How a text is read by it is the tokenizers'.

import { StartError } from '../start-error.ts';
import { type AddedToken, isSpecialToken } from './added-tokens.ts';
import { type FrameFile, readFrames } from './frames.ts';
import { unsupported } from './unsupported.ts';

/** The part of tokenizer.json that is used. */
interface TokenizerFile extends FrameFile {
  readonly added_tokens?: readonly AddedToken[];
  readonly normalizer?: {
    readonly type?: string;
    readonly clean_text?: boolean;
    readonly handle_chinese_chars?: boolean;
    readonly strip_accents?: boolean | null;
    readonly lowercase?: boolean;
  } | null;
  readonly pre_tokenizer?: { readonly type?: string } | null;
  readonly model?: {
    readonly type?: string;
    readonly vocab?: Readonly<Record<string, number>>;
    readonly unk_token?: string;
    readonly continuing_subword_prefix?: string;
    readonly max_input_chars_per_word?: number;
  };
}

export interface BertVocabulary {
  /** Id by token. */
  readonly ids: Readonly<Record<string, number>>;
  /** Begins every token that goes on with a word. */
  readonly prefix: string;
  readonly lowercase: boolean;
  readonly stripAccents: boolean;
  /** A longer word is unknown. */
  readonly maxWordCharacters: number;
  readonly unknownId: number;
  readonly clsId: number;
  readonly sepId: number;
}

/** Whether it is a file of BERT; what it then lacks, `parseBertFile` says. @param file parsed tokenizer.json */
export function isBertFile(file: unknown): boolean {
  const { normalizer, model } = (file ?? {}) as TokenizerFile;
  return normalizer?.type === 'BertNormalizer' && model?.type === 'WordPiece';
}

/** @param file parsed tokenizer.json @throws StartError when it is not BERT's WordPiece */
export function parseBertFile(file: unknown): BertVocabulary {
  const { normalizer, model } = requireBert(file as TokenizerFile);
  const ids = model.vocab ?? {};
  const lowercase = normalizer.lowercase ?? true;
  return {
    ids,
    prefix: model.continuing_subword_prefix ?? '##',
    lowercase,
    stripAccents: normalizer.strip_accents ?? lowercase,
    maxWordCharacters: model.max_input_chars_per_word ?? 100,
    unknownId: requireId(ids, model.unk_token ?? '[UNK]'),
    ...readEnds(file as TokenizerFile, ids),
  };
}

/** What begins and ends a sequence: MPNet's are not called `[CLS]` and `[SEP]`. */
function readEnds(file: TokenizerFile, ids: BertVocabulary['ids']) {
  const frames = readFrames(file);
  if ((file.added_tokens ?? []).some((token) => !isSpecialToken(token, frames))) {
    throw unsupported('a WordPiece model with added tokens that are not special');
  }
  const [first, last] = [frames.single[0], frames.single.at(-1)];
  const clsId = first && 'ids' in first ? first.ids[0] : undefined;
  const sepId = last && 'ids' in last ? last.ids.at(-1) : undefined;
  return { clsId: clsId ?? requireId(ids, '[CLS]'), sepId: sepId ?? requireId(ids, '[SEP]') };
}

function requireId(ids: BertVocabulary['ids'], token: string): number {
  const id = ids[token];
  if (id === undefined) throw new StartError(`tokenizer.json: the vocabulary has no ${token}`);
  return id;
}

function requireBert(file: TokenizerFile) {
  const { normalizer, pre_tokenizer, model } = file;
  if (
    normalizer?.type !== 'BertNormalizer' ||
    normalizer.clean_text === false ||
    normalizer.handle_chinese_chars === false
  ) {
    throw unsupported('a BertNormalizer that does not clean and space ideographs');
  }
  if (pre_tokenizer?.type !== 'BertPreTokenizer') {
    throw unsupported(`a pre-tokenizer ${String(pre_tokenizer?.type)} after a BertNormalizer`);
  }
  if (model?.type !== 'WordPiece') throw unsupported(`a model ${String(model?.type)} after a BertNormalizer`);
  return { normalizer, model };
}
