// What a model folder says of itself, as plain types that both threads share. Reading and checking is model-folder.ts's.

import type { Price } from '../../domain/money.ts';
import type { QuestionType } from '../../domain/question.ts';

/** Graph files by role (`encode`, `answer`, `head`, perhaps `decide`; `embed`). */
export type GraphFiles = Readonly<Record<string, string>>;

interface ManifestBase {
  readonly id: string;
  readonly description: string;
  /** ISO date. */
  readonly release_date: string;
  readonly owned_by: string;
  readonly licence: string;
  /** By precision: `int8`, `fp32`, `fp16`. */
  readonly graphs: Readonly<Record<string, GraphFiles>>;
  readonly price: {
    readonly input_micro_usd_per_million_tokens: number;
    readonly output_micro_usd_per_million_tokens: number;
  };
}

export interface SplitEncoderManifest extends ManifestBase {
  readonly type: 'decision';
  readonly family: 'split-encoder';
  readonly limits: { readonly state_tokens: number; readonly question_tokens: number };
  readonly shape: { readonly layers: number; readonly heads: number; readonly head_size: number };
  readonly windows: { readonly tokens: number; readonly max_index: number };
  readonly branches: { readonly max_tokens: number; readonly max_scores: number };
  readonly temperatures: Readonly<Record<QuestionType, Readonly<Record<string, number>>>>;
}

export interface TextEncoderManifest extends ManifestBase {
  readonly type: 'embedding';
  readonly family: 'text-encoder';
  /** Tokens of one input, with specials. */
  readonly limits: { readonly input_tokens: number };
  readonly dimensions: number;
}

export type Manifest = SplitEncoderManifest | TextEncoderManifest;

/** A verified model folder, as it is handed to the workers. */
export interface ModelFolder {
  /** Absolute path. */
  readonly path: string;
  readonly manifest: Manifest;
  /** `sha256:` + SHA-256 of the bytes of SHA256SUMS. */
  readonly digest: string;
}

/** Nothing is cached here: all input costs the same. */
export function priceOf({ price }: Manifest): Price {
  const inputMicroUsd = price.input_micro_usd_per_million_tokens;
  return {
    inputMicroUsd,
    cachedInputMicroUsd: inputMicroUsd,
    outputMicroUsd: price.output_micro_usd_per_million_tokens,
  };
}
