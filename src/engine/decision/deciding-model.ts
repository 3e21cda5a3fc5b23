// One decision model, and what its tickets have in common: how a job is measured and planned, what was learnt of its cost,
// which worker knows which document, and the memory that workers share.

import type { LoadedModelReport } from '../../runtime/load-report.ts';
import type { SplitEncoderManifest } from '../../runtime/model-folder/manifest.ts';
import type { TokenCounting } from '../cost/token-counting.ts';
import type { DecideJob, StateCacheCounts } from '../engine.ts';
import { type BatchedModel, type BatchLimits, type BatchShare, openBatches } from '../scheduling/batching.ts';
import type { Scheduler } from '../scheduling/scheduler.ts';
import { DecisionCost, type DecisionSize } from './decision-cost.ts';
import { type DecisionPlan, durationMs, type PlanInputs, planDecision } from './decision-plan.ts';
import { type QuestionSlice, sliceForDevice } from './device-slices.ts';
import type { SharedMemories } from './shared-memories.ts';
import type { DocumentHashes, StateDirectory } from './state-directory.ts';

/** Of each window. */
const SPECIALS = 2;

export interface DecidingModelOptions {
  readonly scheduler: Scheduler;
  readonly manifest: SplitEncoderManifest;
  readonly directory: StateDirectory;
  readonly memories: SharedMemories;
  readonly counting: TokenCounting;
  /** Of runs that decisions share, where the workers say that they may; undefined: never. */
  readonly batch: BatchLimits | undefined;
  /** What a run of a device takes, shared or not. Default: without end */
  readonly runTokens?: number | undefined;
}

/** A job before it is planned. */
export interface MeasuredDecision {
  readonly size: DecisionSize;
  /** undefined: no worker keeps documents. */
  readonly document: DocumentHashes | undefined;
}

/** How a decision is run at this moment. */
export interface PlannedDecision {
  readonly inputs: PlanInputs;
  /** undefined: as one task. */
  readonly plan: DecisionPlan | undefined;
  readonly durationMs: number;
}

/** What came of a decision, whichever way it ran. */
export interface DecisionOutcome extends StateCacheCounts {
  /** `[questions][options]` */
  readonly probabilities: readonly (readonly number[])[];
  readonly inputTokens: number;
  /** Of the document; absent: not asked for, or the family gives none. */
  readonly vector?: Float32Array;
  /** `[questions]`; absent: not asked for, or the model gives none. */
  readonly views?: readonly Float32Array[];
  readonly tokenizeMs: number;
  readonly inferMs: number;
}

export class DecidingModel {
  readonly scheduler: Scheduler;
  readonly directory: StateDirectory;
  readonly memories: SharedMemories;
  readonly counting: TokenCounting;
  readonly cost: DecisionCost;
  readonly windowTokens: number;
  readonly #manifest: SplitEncoderManifest;
  readonly #bytesPerToken: number;
  readonly #batchLimits: BatchLimits | undefined;
  readonly #runTokens: number;
  #readsSharedMemory = false;
  #batched: BatchedModel | undefined;
  /** On a device: no worker keeps documents, and none is cut. */
  #isWhole = false;
  readonly #counts = { stateTokens: 0, keptTokens: 0 };

  constructor({ scheduler, manifest, directory, memories, counting, batch, runTokens }: DecidingModelOptions) {
    this.#batchLimits = batch;
    this.#runTokens = runTokens ?? batch?.tokens ?? Infinity;
    this.scheduler = scheduler;
    this.directory = directory;
    this.memories = memories;
    this.counting = counting;
    this.#manifest = manifest;
    this.windowTokens = manifest.windows.tokens;
    this.#bytesPerToken = keyValueBytes(manifest);
    this.cost = new DecisionCost(this.windowTokens);
  }

  /** @param report of the slowest worker, with cases run warm and whole */
  calibrate({ timedCases, readsSharedMemory, takesWhole, batches }: LoadedModelReport): void {
    this.cost.calibrate(timedCases);
    this.#readsSharedMemory = readsSharedMemory;
    this.#isWhole = takesWhole === true || batches !== undefined;
    this.#batched = openBatches(this.#manifest.id, batches, this.#batchLimits);
  }

  /** Since the start. */
  get stateCache(): StateCacheCounts {
    return this.#counts;
  }

  /** Of a document's keys and values. */
  bytesOf(tokens: number): number {
    return tokens * this.#bytesPerToken;
  }

  measure(job: DecideJob): MeasuredDecision {
    const size = this.cost.sizeOf(job, this.counting.measure(job));
    return { size, document: this.#isWhole ? undefined : this.directory.hash(job.modelId, job.state) };
  }

  plan({ size, document }: MeasuredDecision): PlannedDecision {
    const { max_tokens: maxTokens, max_scores: maxScores } = this.#manifest.branches;
    const runTokens = Math.max(1, Math.min(maxTokens, Math.floor(maxScores / size.stateTokens)));
    const isKept = this.directory.canKeep(this.bytesOf(size.stateTokens));
    const isReadInPlace = this.#readsSharedMemory && !isKept;
    const inputs: PlanInputs = {
      idleWorkers: this.scheduler.idleWorkers,
      isWide: this.scheduler.wouldBeWide,
      queuedJobs: this.scheduler.queuedJobs,
      stateTokens: size.stateTokens,
      windowTokens: this.windowTokens,
      limitTokens: this.#manifest.limits.state_tokens,
      keptPart: document === undefined ? 0 : (this.directory.find(document)?.part ?? 0),
      encodeMs: this.cost.encodeMs(size),
      answersMs: this.cost.answersMs(size),
      answerRuns: size.questions.map(({ tokens, options }) => Math.ceil((tokens + options) / runTokens)),
      instructionsMs: this.cost.instructionsMs(size),
      isReadInPlace,
      rejoinMs: isKept || isReadInPlace ? 0 : this.cost.joinMs(size),
    };
    // On a device it is cut by its questions alone.
    const plan = this.#isWhole ? undefined : planDecision(inputs);
    return { inputs, plan, durationMs: durationMs(plan, inputs) };
  }

  /** How a decision is cut for a device; undefined: it is not on one. */
  slicesOf({ stateTokens, questions }: DecisionSize): QuestionSlice[] | undefined {
    if (!this.#isWhole) return undefined;
    const questionTokens = questions.map(({ tokens, options }) => tokens + SPECIALS + options);
    const isExact = this.#batched === undefined;
    return sliceForDevice({ stateTokens, questionTokens, runTokens: this.#runTokens, isExact });
  }

  /** How much of a shared run so many tokens are; undefined: they have their own. */
  shareOf(tokens: number): BatchShare | undefined {
    const model = this.#batched;
    return model && { model, tokens };
  }

  /** A worker has the document from now on, or will soon. */
  remember(worker: number, document: DocumentHashes | undefined, stateTokens: number): void {
    if (document !== undefined) this.directory.put(worker, document, this.bytesOf(stateTokens));
  }

  count({ stateTokens, keptTokens }: StateCacheCounts): void {
    this.#counts.stateTokens += stateTokens;
    this.#counts.keptTokens += keptTokens;
  }
}

/** Keys and values of the longest document that a model takes, cut at words as unluckily as can be. */
export function largestDocumentBytes({ limits, windows, ...manifest }: SplitEncoderManifest): number {
  const leastContent = Math.ceil((windows.tokens - SPECIALS) / 2);
  const most = limits.state_tokens + SPECIALS * Math.ceil(limits.state_tokens / leastContent);
  return most * keyValueBytes(manifest);
}

/** Of one token. */
function keyValueBytes({ shape }: Pick<SplitEncoderManifest, 'shape'>): number {
  return 2 * shape.layers * shape.heads * shape.head_size * Float32Array.BYTES_PER_ELEMENT;
}
