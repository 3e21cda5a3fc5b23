// What a model folder says of itself, as plain types that both threads share. Reading and checking is model-folder.ts's.

import type { Price } from '../../domain/money.ts';
import type { QuestionType } from '../../domain/question.ts';
import type { Frames } from '../tokenizer/frames.ts';

/** Graph files by role (`encode`, `answer`, `head`, perhaps `decide`, `batch` with `head-rows`; `embed`; `score`). */
export type GraphFiles = Readonly<Record<string, string>>;

/** Where a folder's files were taken from, by `umpire models pull`. */
export interface FolderOrigin {
  /** Address of the hub. */
  readonly endpoint: string;
  /** `organisation/name` */
  readonly repo: string;
  /** 40 hex digits. */
  readonly commit: string;
  /** As they lie in the repository. */
  readonly files: readonly { readonly path: string; readonly size: number; readonly sha256: string }[];
}

/** What was measured when the folder was made. */
export interface ProbeFigures {
  /** ISO date. */
  readonly date: string;
  /** By quantized precision: how far its answers are from those of fp32; `unchecked`: there was no fp32 graph. */
  readonly agreement: Readonly<Record<string, 'unchecked' | ProbeAgreement>>;
  /** Of one worker at the longest input that `limits` allow, beside the weights, in bytes. */
  readonly peak_bytes: number;
  /** What the model's own files allow; `limits` may be less, for want of memory. */
  readonly stated_tokens: number;
}

export interface ProbeAgreement {
  readonly rows: number;
  /** Of vectors. */
  readonly least_cosine?: number;
  /** Of probabilities. */
  readonly largest_shift?: number;
}

/** Names of a graph's inputs and of its one output, by what they are. */
export interface GraphIo {
  readonly inputs: {
    /** int64 `[1, S]`, as all of these. */
    readonly ids: string;
    /** Ones. */
    readonly mask?: string;
    /** Which text of a pair a token belongs to. */
    readonly types?: string;
    /** From 0 on. */
    readonly positions?: string;
    /** Keys and values of tokens that came before: float32 `[1, heads, 0, head_size]`, always empty. */
    readonly past?: readonly { readonly name: string; readonly heads: number; readonly head_size: number }[];
  };
  readonly output: string;
}

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
  /** Absent: made here. */
  readonly source?: FolderOrigin;
  /** ISO date on which the operator took a licence that must be taken. */
  readonly licence_accepted?: string;
  readonly probe?: ProbeFigures;
  /** What it was made by: each value, and the file and member that it was read from. */
  readonly recipe?: readonly { readonly what: string; readonly value: string; readonly from: string }[];
}

/** What a decision model of a foreign kind has besides. */
interface CalibratedManifest {
  readonly temperatures: Readonly<Record<QuestionType, Readonly<Record<string, number>>>>;
  /** Whether anybody has fitted these temperatures to labelled rows. */
  readonly calibrated: boolean;
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

/**
 * How a text's one vector comes about. `graph`: the graph gives it, `[1, dimensions]`; else from its vectors of all tokens,
 * `[1, S, dimensions]`: that of the first token, the mean, or that of the last token.
 */
export type Pooling = 'graph' | 'cls' | 'mean' | 'last';

export interface TextEncoderManifest extends ManifestBase {
  readonly type: 'embedding';
  readonly family: 'text-encoder';
  /** Tokens of one input, with specials and prompt. */
  readonly limits: { readonly input_tokens: number };
  readonly dimensions: number;
  readonly graph_io: GraphIo;
  readonly pooling: Pooling;
  /** Whether the graph's vectors have length 1 and are left to the bit. Default: they are brought to it. */
  readonly normalized?: boolean;
  /** What is put before a text, by name; none: empty. */
  readonly prompts: Readonly<Record<string, string>>;
  /** Name of the prompt of calls that name none. Absent: no prompt. */
  readonly default_prompt?: string;
  /** Whether tokens of a prompt, and the specials before it, are pooled. */
  readonly include_prompt: boolean;
}

/** Judges pairs of texts, one run each: whether the second follows from the first, or answers it. */
export interface PairScorerManifest extends ManifestBase {
  readonly family: 'pair-scorer';
  readonly graph_io: GraphIo;
  /** Tokens of both texts, with specials. */
  readonly limits: { readonly pair_tokens: number };
}

/** A model of entailment: the first text is the document, the second a statement that an option makes of it. */
export interface EntailmentManifest extends PairScorerManifest, CalibratedManifest {
  readonly type: 'decision';
  /** Places among the graph's logits. `contradiction`: whatever is not entailment where there are two. */
  readonly labels: { readonly count: number; readonly entailment: number; readonly contradiction: number };
  /**
   * The statement of an option, with `{option}` (name, or `name: description`), `{label}` (the name alone),
   * `{description}` (or the name) and `{instructions}`.
   */
  readonly hypothesis: string;
}

/** The first text is a query, the second a document; the graph gives one logit. */
export interface RerankerManifest extends PairScorerManifest {
  readonly type: 'reranker';
}

/** Reads a document and one question with all its options in one row, a marker before each option (Laya's packages). */
export interface MarkerEncoderManifest extends ManifestBase, CalibratedManifest {
  readonly type: 'decision';
  readonly family: 'marker-encoder';
  readonly limits: {
    /** Of a row: document, question and specials. */
    readonly row_tokens: number;
    /** Of the question with its options. */
    readonly question_tokens: number;
    /** Of one option. */
    readonly option_tokens: number;
  };
  /** Texts of the tokens around the question and the document, and of the marker before an option. */
  readonly special_tokens: { readonly cls: string; readonly sep: string; readonly mask: string };
}

export type Manifest =
  | SplitEncoderManifest
  | TextEncoderManifest
  | EntailmentManifest
  | RerankerManifest
  | MarkerEncoderManifest;

/** Of what answers questions. */
export type DecisionManifest = Extract<Manifest, { readonly type: 'decision' }>;

/** A verified model folder, as it is handed to the workers. */
export interface ModelFolder {
  /** Absolute path. */
  readonly path: string;
  readonly manifest: Manifest;
  /** What its tokenizer sets around a text and around a pair. */
  readonly frames: Frames;
  /** Whether its tokenizer is BERT's. */
  readonly isWordPiece: boolean;
  /** `sha256:` + SHA-256 of the bytes of SHA256SUMS. */
  readonly digest: string;
}

/** Our own training ends with the fit of temperatures; of other models the folder says whether anybody did it. */
export function isCalibrated(manifest: DecisionManifest): boolean {
  return !('calibrated' in manifest) || manifest.calibrated;
}

/** Nothing is cached here: all input costs the same. */
export function priceOf({ price }: Pick<Manifest, 'price'>): Price {
  const inputMicroUsd = price.input_micro_usd_per_million_tokens;
  return {
    inputMicroUsd,
    cachedInputMicroUsd: inputMicroUsd,
    outputMicroUsd: price.output_micro_usd_per_million_tokens,
  };
}
