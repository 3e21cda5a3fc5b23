// What a tokenizer.json of BERT's WordPiece says, checked. How a text is read by it is the tokenizers'.

import { StartError } from '../start-error.ts';

/** The part of tokenizer.json that is used. */
interface TokenizerFile {
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
    clsId: requireId(ids, '[CLS]'),
    sepId: requireId(ids, '[SEP]'),
  };
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
    throw new StartError('tokenizer.json: only the BertNormalizer that cleans and spaces ideographs is known');
  }
  if (pre_tokenizer?.type !== 'BertPreTokenizer') {
    throw new StartError('tokenizer.json: only the BertPreTokenizer is known');
  }
  if (model?.type !== 'WordPiece') throw new StartError('tokenizer.json: only WordPiece models are known');
  return { normalizer, model };
}
