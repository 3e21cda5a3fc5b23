// Door of scoring: all models of this engine that read rows one by one: pairs of texts, or a document with one question.

import type { ModelCard } from '../../domain/model-card.ts';
import type { LoadedModelReport } from '../../runtime/load-report.ts';
import type { ModelFolder } from '../../runtime/model-folder/manifest.ts';
import type { TokenCounting } from '../cost/token-counting.ts';
import type { Caller, DecideJob, RerankJob } from '../engine.ts';
import type { BatchLimits } from '../scheduling/batching.ts';
import type { Scheduler } from '../scheduling/scheduler.ts';
import { entailmentRows } from './entailment-rows.ts';
import { markerRows } from './marker-rows.ts';
import { rerankRows } from './rerank-rows.ts';
import type { RowJob } from './row-job.ts';
import { type ScoringFolder, type ScoringManifest, ScoringModel } from './scoring-model.ts';
import { ScoringTicket } from './scoring-ticket.ts';

export interface ScorerOptions {
  /** Of all models; those of other kinds are left out. */
  readonly folders: readonly ModelFolder[];
  readonly scheduler: Scheduler;
  readonly counting: TokenCounting;
  /** Of runs that rows of several callers share, where the workers say that they may. Default: never */
  readonly batch?: BatchLimits | undefined;
}

export class Scorer {
  readonly #models: ReadonlyMap<string, ScoringModel>;

  constructor({ folders, ...shared }: ScorerOptions) {
    const models = folders.filter(readsRows).map((folder) => new ScoringModel({ ...shared, folder }));
    this.#models = new Map(models.map((model) => [model.manifest.id, model]));
  }

  calibrate(report: LoadedModelReport): void {
    this.#models.get(report.modelId)?.calibrate(report);
  }

  /** What the card of a model tells besides its manifest; nothing of other models. */
  describe(modelId: string): Pick<ModelCard, 'limits'> {
    const limits = this.#models.get(modelId)?.limits;
    return limits === undefined ? {} : { limits };
  }

  /**
   * @returns undefined when none of these models is asked for what it does
   * @throws AppError of a job that asks for too much
   */
  ticketFor(job: DecideJob | RerankJob, caller: Caller): ScoringTicket | undefined {
    const model = this.#models.get(job.modelId);
    const rows = model && findRows(job, model.manifest);
    return model && rows && new ScoringTicket(model, rows, caller);
  }
}

function readsRows(folder: ModelFolder): folder is ScoringFolder {
  const { manifest } = folder;
  return manifest.family === 'pair-scorer' || manifest.family === 'marker-encoder';
}

/** @throws AppError of a job that asks for too much */
function findRows(job: DecideJob | RerankJob, manifest: ScoringManifest): RowJob | undefined {
  if ('documents' in job) return manifest.type === 'reranker' ? rerankRows(job) : undefined;
  if (manifest.family === 'marker-encoder') return markerRows(job);
  return manifest.type === 'decision' ? entailmentRows(job, manifest) : undefined;
}
