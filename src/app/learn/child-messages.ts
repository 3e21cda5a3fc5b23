// What the process that learns is told, and what it says. Plain data.

import type { Config } from '../../config/schema.ts';
import type { LabelledRow } from '../../quality/labelled-row.ts';
import type { LearningOrder } from '../../services/learning/learner.ts';
import type { LearningError, LearningProgress, LearningReport } from '../../services/learning/learning-job.ts';

/** In this order: `begin`, `rows` as often as there are parts of them, `learn`; `write` is the answer to a report. */
export type ChildOrder =
  | { readonly kind: 'begin'; readonly order: Omit<LearningOrder, 'rows'>; readonly config: Config }
  | { readonly kind: 'rows'; readonly rows: readonly LabelledRow[] }
  | { readonly kind: 'learn' }
  | { readonly kind: 'write' };

export type ChildNews =
  | { readonly kind: 'progress'; readonly progress: LearningProgress }
  /** Nothing is written until the answer has come. */
  | { readonly kind: 'report'; readonly report: LearningReport }
  | { readonly kind: 'written'; readonly digest: string }
  | { readonly kind: 'failed'; readonly error: LearningError }
  /** What nobody expected: the places in the code, without the message, which may hold anything. */
  | { readonly kind: 'fault'; readonly name: string; readonly places: readonly string[] };
