// The engine's facade: the only face of local inference that services see. Implemented by LocalEngine; tests of the
// HTTP layer hand in their own.

import type { Answer } from '../domain/answer.ts';
import type { ModelCard } from '../domain/model-card.ts';
import type { PromptChoice } from '../domain/prompt-choice.ts';
import type { Question } from '../domain/question.ts';
import type { JobTimings } from '../domain/usage.ts';

/** Who waits for a job. A caller that leaves before dispatch is dropped; after dispatch the work runs to its end. */
export interface Caller {
  /** The queue shares workers fairly between keys. */
  readonly keyId: string;
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal;
  /** Time from now within which the whole answer is wanted; refused at once when that cannot be kept. undefined: none. */
  readonly deadlineMs?: number | undefined;
}

/** What a result was taken from. It is billed the same in every case. */
export interface ResultSource {
  /** `run`: a run of its own; `merged`: the run of an identical job under way; `kept`: an earlier answer. */
  readonly answer: 'run' | 'merged' | 'kept';
  /** Tokens of the state, specials included, whose encoding had been kept from earlier calls. */
  readonly keptTokens: number;
}

/** Who answered a question of a learned model. */
export type AnswerOrigin = 'head' | 'base';

export interface DecideJob {
  readonly modelId: string;
  readonly state: string;
  /** At least one. */
  readonly questions: readonly Question[];
  /** Whether vectors are asked for: the document's and each question's view of it, where the model gives them. Default: no. */
  readonly wantsVectors?: boolean;
}

export interface DecideResult {
  /** `[questions]`, in the order of the job. */
  readonly answers: readonly Answer[];
  readonly inputTokens: number;
  /**
   * Of the document, the same to the bit however it was run: the mean over its tokens, specials included, of the last
   * layer's values, `[heads · head_size]`. Absent: not asked for, or the family gives none.
   */
  readonly vector?: Float32Array;
  /**
   * `[questions]`: what each saw in the document, whatever its options: the mean of the last states of its instructions,
   * `[heads · head_size]`, the same to the bit however it was run. Absent: not asked for, or the model's graphs give none.
   */
  readonly views?: readonly Float32Array[];
  /** `[questions]` of a learned model: a head that was fitted to labelled rows, or its base. Absent: of any other model. */
  readonly answeredBy?: readonly AnswerOrigin[];
  /** It shared runs with jobs of others: alone it may differ by the tolerance of shared runs. Absent: to the bit. */
  readonly isBatched?: boolean;
  readonly timings: JobTimings;
  readonly source: ResultSource;
}

/** One input of an embedding call: text, or ids of the model's own tokenizer. */
export type EmbedInput = string | readonly number[];

export interface EmbedJob {
  readonly modelId: string;
  /** 1 to 2,048. */
  readonly inputs: readonly EmbedInput[];
  /** 1 to the model's own number; fewer are cut off the end and normalised again. */
  readonly dimensions: number | undefined;
  /** Whether no more than the first tokens of a long input are read. Default: no. */
  readonly truncate?: boolean;
  /** Whether a long input is read in windows, whatever the configuration says of long inputs. Default: no. */
  readonly readsWindows?: boolean;
  /** Default: the model's own default, mostly none. */
  readonly prompt?: PromptChoice | undefined;
  /** base64 is encoded in the worker: little-endian float32. */
  readonly encoding: 'float' | 'base64';
}

export interface EmbedResult {
  /** `[inputs]`, in the order of the job; Float32Array `[dimensions]` or base64 text, as asked. */
  readonly embeddings: readonly (Float32Array | string)[];
  /** Of what was read. */
  readonly inputTokens: number;
  /** Places of inputs that were cut, ascending. */
  readonly truncated: readonly number[];
  /** As a decision's. */
  readonly isBatched?: boolean;
  readonly timings: JobTimings;
  readonly source: ResultSource;
}

export interface RerankJob {
  readonly modelId: string;
  readonly query: string;
  /** At least one. Each is scored by itself: neither its score nor its bill depends on the others. */
  readonly documents: readonly string[];
  /** Whether the end of a document that is too long beside the query is cut off. */
  readonly truncate: boolean;
}

export interface RerankResult {
  /** `[documents]`, in the order of the job: what the model gave, the higher the more relevant. */
  readonly scores: readonly number[];
  /** Of what was read: the query counts once for each document. */
  readonly inputTokens: number;
  /** Places of documents that were cut, ascending. */
  readonly truncated: readonly number[];
  /** As a decision's. */
  readonly isBatched?: boolean;
  readonly timings: JobTimings;
  readonly source: ResultSource;
}

/** What there was too much of; `wait`: time until it could begin; `late`: its answer would come after the caller's own deadline. */
export type RefusalReason = 'jobs' | 'cost' | 'wait' | 'late';

export type Job = DecideJob | EmbedJob | RerankJob;
export type JobResult = DecideResult | EmbedResult | RerankResult;

export type EngineState = 'loading' | 'ready' | 'draining' | 'unresponsive';

/** `not_loaded`: it waits until it is first asked for; `failed`: that was in vain, and is tried again later. */
export type ModelState = 'not_loaded' | 'loading' | 'loaded' | 'failed';

export interface ModelStatus {
  readonly id: string;
  readonly state: ModelState;
  /** Why it failed, without paths, where that is known. */
  readonly reason?: string;
}

/** Estimates, not measurements. */
export interface MemoryStatus {
  /** Of models that are loaded or being loaded, and of what caches may grow to. */
  readonly takenBytes: number;
  /** What these may take. */
  readonly budgetBytes: number;
}

/** Numbers for `/metrics` and `/readyz`, read at scrape time. */
export interface EngineStatus {
  readonly state: EngineState;
  readonly queuedJobs: number;
  /** Estimated worker time of all queued jobs. */
  readonly queuedCostMs: number;
  readonly busyWorkers: number;
  readonly workers: number;
  readonly threadsPerWorker: number;
  /** Execution provider in use: `cpu`, `cuda`, … */
  readonly device: string;
  /** Since the start. */
  readonly stateCache: StateCacheCounts;
  /** Calls refused as `overloaded` since the start, by what there was too much or too little of. */
  readonly refusals: Readonly<Record<RefusalReason, number>>;
  /** When all that is queued or runs now will be done. */
  readonly expectedDrainMs: number;
  /** In the order of the cards. */
  readonly models: readonly ModelStatus[];
  readonly memory: MemoryStatus;
}

/** State tokens (specials included) of decisions: how many there were, and how many of them need not be encoded. */
export interface StateCacheCounts {
  readonly stateTokens: number;
  readonly keptTokens: number;
}

/**
 * One job in the engine: counted, let in or refused, shared, run or dropped, all on this one object. Nothing is done for
 * it before it is counted or enters.
 */
export interface Ticket<Result> {
  /** Exactly the `inputTokens` that the result will have, without running a model. Rejects as `run` does. */
  countTokens(): Promise<number>;
  /**
   * Takes its place: at a worker, in the queue, beside an identical job. Done already, it does nothing.
   * @throws AppError `overloaded` (with `retryAfterMs`) when it could not begin, or end, in time; what is wrong with the
   *   job; the signal's reason when the caller has left
   */
  enter(): void;
  /**
   * Enters and waits for the end. Rejects with what `enter` throws, `context_length_exceeded`, `internal_error`, or the
   * signal's reason when the caller left before work on it began.
   */
  run(): Promise<Result>;
}

export interface Engine {
  ticketFor(job: DecideJob, caller: Caller): Ticket<DecideResult>;
  ticketFor(job: EmbedJob, caller: Caller): Ticket<EmbedResult>;
  ticketFor(job: RerankJob, caller: Caller): Ticket<RerankResult>;
  ticketFor(job: Job, caller: Caller): Ticket<JobResult>;
  /** Cards of the local models, known before they are loaded. */
  readonly models: readonly ModelCard[];
  status(): EngineStatus;
  /** Refuses new jobs, finishes accepted ones, then ends the workers. */
  drain(): Promise<void>;
}
