// What learns, and what keeps how it ended: the interfaces behind the learning service.

import type { LabelledRow } from '../../quality/labelled-row.ts';
import type { LearningError, LearningJob, LearningProgress, LearningReport } from './learning-job.ts';

export interface LearningOrder {
  readonly modelId: string;
  /** undefined: that of the model to which rows are added. */
  readonly base: string | undefined;
  readonly usesEmbedder: boolean;
  readonly addsRows: boolean;
  /** `line` is the place in the request, from 1. */
  readonly rows: readonly LabelledRow[];
}

/** `lost`: it ended without a word. */
export type LearningEnd =
  | { readonly type: 'written'; readonly digest: string }
  | { readonly type: 'failed'; readonly error: LearningError }
  | { readonly type: 'lost'; readonly reason: string };

export interface LearningWatch {
  progressed(progress: LearningProgress): void;
  /** Once, before anything is written: that waits for it, and is left if it rejects. */
  reported(report: LearningReport): Promise<void>;
}

export interface LearningUnderWay {
  /** Never rejects. */
  readonly ended: Promise<LearningEnd>;
  /** At once. Nothing is written any more, unless it was just being written: that is whole or not at all. */
  stop(): void;
}

export interface Learner {
  start(order: LearningOrder, watch: LearningWatch): LearningUnderWay;
}

/** Keeps jobs over a restart. */
export interface LearningJournal {
  read(): Promise<readonly LearningJob[]>;
  write(jobs: readonly LearningJob[]): Promise<void>;
}
