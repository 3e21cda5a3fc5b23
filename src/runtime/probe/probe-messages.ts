// What the process of a probe is asked for, and what it sends back. Both are plain data.

import type { GraphSignature } from '../graph-signature.ts';
import type { ModelFolder } from '../model-folder/manifest.ts';

/** One thing to look at; each has a process of its own, so that one that dies takes nothing along. */
export type ProbeOrder =
  | { readonly kind: 'signature'; readonly path: string }
  /** What a folder that is being made answers to the probe set. */
  | { readonly kind: 'answers'; readonly folder: ModelFolder; readonly precision: string }
  /** Rows of these lengths, one after the other. */
  | {
      readonly kind: 'lengths';
      readonly folder: ModelFolder;
      readonly precision: string;
      readonly lengths: readonly number[];
    }
  /** Whether a finished folder starts, golden answers included. */
  | { readonly kind: 'start'; readonly folder: ModelFolder };

/** A case of the probe set with what the model made of it. */
export interface ProbeAnswer {
  /** Place in the list of its kind. */
  readonly place: number;
  readonly inputTokens: number;
  /** Probabilities of each question; one vector; the scores of the documents. */
  readonly values: readonly (readonly number[])[];
}

export type ProbeReport =
  | { readonly kind: 'signature'; readonly signature: GraphSignature }
  | { readonly kind: 'answers'; readonly answers: readonly ProbeAnswer[] }
  /** The model lies in memory; nothing has been run. */
  | { readonly kind: 'loaded'; readonly residentBytes: number }
  /** A row of that many tokens was run. @property peakBytes beside what the loaded model takes */
  | { readonly kind: 'length'; readonly tokens: number; readonly peakBytes: number }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'done' };
