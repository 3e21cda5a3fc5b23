// One model that scores rows, and what its tickets have in common: how long a row is and takes, how rows become parts, and
// what was learnt of their cost.

import { sum } from '../../domain/sum.ts';
import type { LoadedModelReport } from '../../runtime/load-report.ts';
import type {
  EntailmentManifest,
  MarkerEncoderManifest,
  ModelFolder,
  RerankerManifest,
} from '../../runtime/model-folder/manifest.ts';
import { countFrameIds } from '../../runtime/tokenizer/frames.ts';
import { addWork, CostModel } from '../cost/cost-model.ts';
import type { TokenCounting } from '../cost/token-counting.ts';
import { TokenRatio } from '../cost/token-ratio.ts';
import { embedWork, TASK_WORK } from '../cost/work-size.ts';
import {
  type BatchedModel,
  type BatchLimits,
  type BatchShare,
  estimateShare,
  openBatches,
} from '../scheduling/batching.ts';
import type { Scheduler } from '../scheduling/scheduler.ts';
import { MOST_ROWS } from './decision-limits.ts';
import { groupRows, type RowGroup, type SizedRow } from './row-parts.ts';

/** Whatever reads rows: a pair of texts, or a document with one question. */
export type ScoringManifest = EntailmentManifest | RerankerManifest | MarkerEncoderManifest;

/** What a short decision that comes now waits for a worker at most, where one row is not longer than that. */
const PART_MS = 25;
/** Idle workers share what takes longer than this. */
const LEAST_SHARED_MS = 10;
/** Sums of fractions drift: two halves of a job are two parts, not three. */
const ROUNDING = 1.05;
/** Around document and question. The marker of each option, too, is little beside the estimate of the texts. */
const MARKER_ROW_SPECIALS = 4;

export type ScoringFolder = ModelFolder & { readonly manifest: ScoringManifest };

export interface ScoringModelOptions {
  readonly folder: ScoringFolder;
  readonly scheduler: Scheduler;
  readonly counting: TokenCounting;
  /** Of runs that rows of several callers share, where the workers say that they may. Default: never */
  readonly batch?: BatchLimits | undefined;
}

export class ScoringModel {
  readonly scheduler: Scheduler;
  readonly manifest: ScoringManifest;
  readonly counting: TokenCounting;
  /** Of each row. */
  readonly #specialTokens: number;
  readonly #mostTokens: number;
  readonly #costs = new CostModel();
  readonly #ratio = new TokenRatio();
  readonly #batchLimits: BatchLimits | undefined;
  /** undefined: each row runs by itself. */
  #batched: BatchedModel | undefined;

  constructor({ folder: { manifest, frames }, scheduler, counting, batch }: ScoringModelOptions) {
    this.#batchLimits = batch;
    this.scheduler = scheduler;
    this.manifest = manifest;
    this.counting = counting;
    const { limits } = manifest;
    this.#mostTokens = 'pair_tokens' in limits ? limits.pair_tokens : limits.row_tokens;
    this.#specialTokens = 'pair_tokens' in limits ? countFrameIds(frames.pair ?? frames.single) : MARKER_ROW_SPECIALS;
  }

  /** What a caller may send: the manifest counts the special tokens of a pair, which no caller sends. */
  get limits(): Record<string, number> {
    const { limits, type } = this.manifest;
    const ofRow = 'pair_tokens' in limits ? { pair_tokens: this.#mostTokens - this.#specialTokens } : limits;
    return { ...ofRow, ...(type === 'decision' ? { request_rows: MOST_ROWS } : {}) };
  }

  /** @param report with cases run warm, each row by itself */
  calibrate({ timedCases: cases, batches }: Pick<LoadedModelReport, 'timedCases' | 'batches'>): void {
    this.#batched = openBatches(this.manifest.id, batches, this.#batchLimits);
    const measured = cases.map(({ characters, tokens, rows = [tokens], wallMs }) => {
      this.#ratio.observe(characters, tokens - rows.length * this.#specialTokens);
      return { work: addWork(rows.map(embedWork)), wallMs };
    });
    this.#costs.calibrate(measured);
  }

  /** @param letters `[rows]` */
  sizeRows(letters: readonly number[]): SizedRow[] {
    return letters.map((ofRow, row) => {
      const tokens = Math.min(this.#mostTokens, this.#ratio.estimate(ofRow) + this.#specialTokens);
      return { row, letters: ofRow, tokens, costMs: this.#costs.estimateMs(embedWork(tokens)) };
    });
  }

  /** In parts that all free workers share, and that let others through. */
  split(rows: readonly SizedRow[]): RowGroup[] {
    const batched = this.#batched;
    if (batched !== undefined) {
      const groups = groupRows(rows, batched.limits.tokens, ({ tokens }) => tokens);
      return groups.map((group) => ({ ...group, costMs: estimateShare(shareOf(batched, group.rows)).costMs }));
    }
    const costMs = sum(rows.map((row) => row.costMs));
    const helpers = costMs < LEAST_SHARED_MS ? 1 : Math.max(1, this.scheduler.idleWorkers);
    const taskMs = this.#costs.estimateMs(TASK_WORK);
    const mostMs = Math.min(PART_MS, (costMs / helpers) * ROUNDING);
    const groups = groupRows(rows, mostMs, (row) => row.costMs);
    return groups.map((group) => ({ ...group, costMs: sum(group.rows.map((row) => row.costMs)) + taskMs }));
  }

  /** How much of a shared run these rows are; undefined: they have their own. */
  shareOf({ rows }: Pick<RowGroup, 'rows'>): BatchShare | undefined {
    return this.#batched && shareOf(this.#batched, rows);
  }

  /** From the begin of the work to the answer, when nothing comes between. */
  durationMs(parts: readonly { readonly costMs: number }[]): number {
    const { queuedJobs, idleWorkers } = this.scheduler;
    const costMs = sum(parts.map((part) => part.costMs));
    return costMs / (queuedJobs > 0 ? 1 : Math.max(1, Math.min(parts.length, idleWorkers)));
  }

  /** From one part that is done. @param inputTokens of all its rows, without specials */
  learn(rows: readonly SizedRow[], inputTokens: number, wallMs: number | undefined): void {
    const estimated = sum(rows.map(({ tokens }) => tokens - this.#specialTokens));
    const correction = estimated > 0 ? inputTokens / estimated : 1;
    const works = rows.map(({ tokens }) =>
      embedWork((tokens - this.#specialTokens) * correction + this.#specialTokens),
    );
    this.#costs.observe({ work: addWork([TASK_WORK, ...works]), wallMs });
    this.#ratio.observe(sum(rows.map(({ letters }) => letters)), inputTokens);
  }
}

function shareOf(model: BatchedModel, rows: readonly SizedRow[]): BatchShare {
  return { model, tokens: sum(rows.map(({ tokens }) => tokens)) };
}
