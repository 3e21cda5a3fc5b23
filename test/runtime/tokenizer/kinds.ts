// Small tokenizers of every kind that pulled models come with, and the ids of the reference library over natural and
// hostile texts, as hashes (models/training/fixtures/tokenizer_kinds.py).

import { createHash } from 'node:crypto';
import { readPacked } from '../../models/packed-json.ts';

export const KINDS = ['xlm-roberta', 'deberta-v3', 'modernbert', 'roberta', 'qwen', 'gemma'] as const;
export type Kind = (typeof KINDS)[number];

interface KindTexts {
  readonly texts: readonly string[];
  /** Eight hexadecimal digits each, of the shared texts and then of these. */
  readonly hashes: string;
}

const HASH_DIGITS = 8;

const readFixture = (name: string) => readPacked(new URL(`./fixtures/${name}`, import.meta.url));
const charsmap = readFixture('charsmap.bin.br').toString('base64');
const files = readFixture('tokenizers.json.br').toString();
const corpus = JSON.parse(readFixture('texts.json.br').toString()) as {
  readonly shared: readonly string[];
  readonly kinds: Readonly<Record<Kind, KindTexts>>;
};

/** A parsed tokenizer.json; each call gives another object. */
export function readKind(kind: Kind): TokenizerJson {
  const parsed = JSON.parse(files.replaceAll('CHARSMAP', charsmap)) as Record<Kind, TokenizerJson>;
  return parsed[kind];
}

/** A kind with options of other published families (models/training/fixtures/tokenizer_options.py). */
interface OptionedKind {
  readonly kind: Kind;
  readonly normalizer?: object | null;
  readonly pre_tokenizer?: object | null;
  readonly model?: object;
  /** Every so many merges one is left out. */
  readonly drop?: number;
  /** So many tokens of bytes are added. */
  readonly bytes?: number;
  /** A token that gets another name. */
  readonly without?: string;
  /** Four hexadecimal digits for each of the shared texts. */
  readonly hashes: string;
}

export const OPTIONS = Object.entries(
  JSON.parse(readFixture('options.json.br').toString().replaceAll('CHARSMAP', charsmap)) as Record<
    string,
    OptionedKind
  >,
);

export const SHARED_TEXTS = corpus.shared;

export function readOption(name: string): TokenizerJson {
  const option = new Map(OPTIONS).get(name);
  if (option === undefined) throw new Error(`no option ${name}`);
  return readOptioned(option);
}

export function readOptioned(option: OptionedKind): TokenizerJson {
  const { kind, normalizer, pre_tokenizer: preTokenizer } = option;
  const base = readKind(kind);
  return {
    ...base,
    ...(normalizer === undefined ? {} : { normalizer }),
    ...(preTokenizer === undefined ? {} : { pre_tokenizer: preTokenizer }),
    model: { ...base.model, ...option.model, ...changeTokens(base.model, option) },
  };
}

function changeTokens({ vocab, merges = [] }: TokenizerJson['model'], { drop, bytes = 0, without }: OptionedKind) {
  const kept = merges.filter((_, place) => drop === undefined || place % drop !== 0);
  if (!Array.isArray(vocab)) {
    const entries = Object.entries(vocab).map(([token, id]) => [token === without ? `${token} away` : token, id]);
    return { merges: kept, vocab: Object.fromEntries(entries) };
  }
  const nameOf = (byte: number) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`;
  return { vocab: [...(vocab as unknown[]), ...Array.from({ length: bytes }, (_, byte) => [nameOf(byte), -20])] };
}

/** What tests change in a file. */
export interface TokenizerJson {
  readonly normalizer: object | null;
  readonly pre_tokenizer: object | null;
  readonly model: { readonly type: string; readonly vocab: object; readonly merges?: readonly unknown[] };
  readonly added_tokens: readonly { readonly id: number; readonly content: string; readonly special: boolean }[];
}

export function textsOf(kind: Kind): { readonly text: string; readonly hash: string }[] {
  const { texts, hashes } = corpus.kinds[kind];
  return [...corpus.shared, ...texts].map((text, place) => ({
    text,
    hash: hashes.slice(HASH_DIGITS * place, HASH_DIGITS * (place + 1)),
  }));
}

export function hashOf(ids: Int32Array): string {
  return createHash('sha256').update(ids).digest('hex').slice(0, HASH_DIGITS);
}
