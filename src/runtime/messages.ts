// What crosses between the main thread and a worker: plain data both ways, errors as records.

import type { ErrorRecord } from '../domain/errors.ts';
import type { Question } from '../domain/question.ts';
import type { DeviceSetup } from './device-setup.ts';
import type { LoadedModelReport } from './load-report.ts';
import type { ModelFolder } from './model-folder/manifest.ts';
import type { TokenizerChoice } from './tokenizer/open-tokenizer.ts';

/** `workerData` of every worker. */
export interface WorkerSetup extends DeviceSetup {
  /** That are loaded at the start. */
  readonly models: readonly ModelFolder[];
  /** That are loaded by the first task that needs them. Default: none */
  readonly laterModels?: readonly ModelFolder[];
  /** Of one run. */
  readonly threads: number;
  /** Of one run while no other worker has anything to do. Default: the same. */
  readonly aloneThreads?: number | undefined;
  readonly cacheFolder: string | undefined;
  /** What this worker may keep of documents that it has read; 0: nothing. */
  readonly stateCacheBytes: number;
  /** What it may use again and again for documents that it does not keep. */
  readonly scratchBytes: number;
  /** Which code reads the texts of BERT's models; default `auto`. */
  readonly tokenizer?: TokenizerChoice | undefined;
  /** How tasks share runs where the device gains by it; undefined: never. */
  readonly batch?: BatchSetup | undefined;
  /** One Int32 that workers take turns with, so that only one of them optimises a graph. */
  readonly turn: SharedArrayBuffer;
}

export interface BatchSetup {
  /** Of one run, padding included. */
  readonly tokens: number;
  /** One Int32: how many more runs may begin on the device. */
  readonly slots: SharedArrayBuffer;
  /** Runs are as for one question alone, whoever else asks: the same bits under any load. */
  readonly isExact: boolean;
  /** On a processor, too: full-precision graphs in place of int8. */
  readonly isForced: boolean;
}

export interface DecideTask {
  readonly kind: 'decide';
  readonly modelId: string;
  readonly state: string;
  readonly questions: readonly Question[];
  /** Index in the request of each question, for messages. Default: 0, 1, … */
  readonly places?: readonly number[];
  /** All questions of the decision, where these are some of them: they are counted. Default: these */
  readonly countedQuestions?: readonly Question[];
  /** Nobody is expected to ask about this document again: it need not be kept where keeping it costs. Default: false */
  readonly isPassing?: boolean;
  /** Whether vectors are asked for, where the family gives them. Default: false */
  readonly wantsVectors?: boolean | undefined;
}

/**
 * What becomes of an input with more tokens than the model reads at once. `refuse`: an error. `truncate`: the first ones
 * are read. `windows`: all of it is read, window by window, up to a limit of its own.
 */
export type LongInputs = 'refuse' | 'truncate' | 'windows';

export interface EmbedItem {
  /** Index in the caller's own list, for messages. */
  readonly place: number;
  readonly input: string | readonly number[];
  /** Absent: all of it. */
  readonly share?: InputShare;
}

/** Consecutive windows of a long input, about as many as in each other share of it. */
export interface InputShare {
  /** 0 to `count` − 1. */
  readonly index: number;
  readonly count: number;
}

export interface EmbedTask {
  readonly kind: 'embed';
  readonly modelId: string;
  readonly inputs: readonly EmbedItem[];
  readonly longInputs: LongInputs;
  readonly dimensions: number | undefined;
  readonly encoding: 'float' | 'base64';
  /** Put before every text; its tokens count. Default: nothing */
  readonly prompt?: string;
}

export interface PairItem {
  /** Index in the caller's own list, for messages. */
  readonly place: number;
  readonly second: string;
}

/** One text beside several others, each pair a run of its own. */
export interface ScorePairsTask {
  readonly kind: 'score-pairs';
  readonly modelId: string;
  readonly first: string;
  readonly pairs: readonly PairItem[];
  /** Whether a second text that is too long beside the first one is cut; else the task is refused. */
  readonly truncate: boolean;
}

/** A golden case of the model, run again; its answer is not looked at. */
export interface ProbeTask {
  readonly kind: 'probe';
}

/** Has the worker load one of its later models; done already, it does nothing. */
export interface LoadModelTask {
  readonly kind: 'load';
  readonly modelId: string;
}

/**
 * One of several shares of a document's windows, encoded into memory that all workers see. A document may come in as many
 * shares as it has windows, to the same worker one after the other: its text should be tokenised once.
 */
export interface EncodeTask {
  readonly kind: 'encode';
  readonly modelId: string;
  readonly state: string;
  /** Only counted. */
  readonly questions: readonly Question[];
  /** 0 to `shares` − 1. */
  readonly share: number;
  readonly shares: number;
  /** Room for the whole document; each share has a place of its own there. */
  readonly memory: SharedArrayBuffer;
}

/** One window of a document. */
export interface WindowKey {
  /** `[CLS]` and `[SEP]` included. */
  readonly tokens: number;
  /** Hash of everything its keys and values depend on: ids, segment, index. */
  readonly key: string;
}

/** A document in memory that all workers see: its shares are written there, and then it is only read. */
export interface SharedDocument {
  /** All of it, in order. */
  readonly windows: readonly WindowKey[];
  /** Keys and values as `answer` reads them, from the first byte on. May be larger. */
  readonly memory: SharedArrayBuffer;
}

/** Questions about a document of which all shares are encoded. */
export interface AnswerTask {
  readonly kind: 'answer';
  readonly modelId: string;
  readonly questions: readonly Question[];
  readonly document: SharedDocument;
  readonly wantsVectors?: boolean | undefined;
}

/** Some of the runs of one question that is too long for a part: to be ended when all slices are there. */
export interface AnswerSliceTask {
  readonly kind: 'answer-slice';
  readonly modelId: string;
  readonly question: Question;
  readonly document: SharedDocument;
  /** 0 to `slices` − 1. */
  readonly slice: number;
  readonly slices: number;
  readonly wantsVectors?: boolean | undefined;
}

/** What the slices of one question have found, put together. */
export interface AnswerEndTask {
  readonly kind: 'answer-end';
  readonly modelId: string;
  readonly question: Question;
  /** Specials included. */
  readonly stateTokens: number;
  /** Of all slices, in order. */
  readonly vectors: AnswerSliceReply['vectors'];
}

/** Counts what a decision would bill, and runs nothing. */
export interface CountDecisionTask {
  readonly kind: 'count-decision';
  readonly modelId: string;
  readonly state: string;
  readonly questions: readonly Question[];
}

/** Counts what an embedding call would bill, and runs nothing. */
export interface CountEmbeddingTask {
  readonly kind: 'count-embedding';
  readonly modelId: string;
  readonly inputs: EmbedTask['inputs'];
  readonly longInputs: LongInputs;
  readonly prompt?: string;
}

/** Counts what pairs would bill, and runs nothing. */
export interface CountPairsTask {
  readonly kind: 'count-pairs';
  readonly modelId: string;
  readonly first: string;
  readonly pairs: readonly PairItem[];
  readonly truncate: boolean;
}

/** Tasks of several callers that share runs: their rows side by side, padded. Each is answered within the tolerance. */
export interface SharedTask {
  readonly kind: 'batch';
  readonly modelId: string;
  readonly tasks: readonly SharingTask[];
}

/** Tasks whose rows may stand beside those of others. */
export type SharingTask = DecideTask | EmbedTask | ScorePairsTask;

export type CountTask = CountDecisionTask | CountEmbeddingTask | CountPairsTask;

export type Task =
  | CountTask
  | SharedTask
  | DecideTask
  | EncodeTask
  | AnswerTask
  | AnswerSliceTask
  | AnswerEndTask
  | EmbedTask
  | ScorePairsTask
  | ProbeTask
  | LoadModelTask;

interface Timed {
  readonly tokenizeMs: number;
  readonly inferMs: number;
}

/** Of a task that may want vectors, the same bits whichever task gives them. Absent: not asked for, or the model gives none. */
interface WithVectors {
  /** Of the document, `[dimensions of the family]`. */
  readonly vector?: Float32Array;
  /** `[questions]`: what each saw in the document, `[hidden]`; of a slice, if the question's first run is in it. */
  readonly views?: readonly Float32Array[];
}

export interface DecideReply extends Timed, WithVectors {
  /** `[questions][options]`, in the order of the request. */
  readonly probabilities: readonly (readonly number[])[];
  readonly inputTokens: number;
  /** Specials included. */
  readonly stateTokens: number;
  /** Those of them whose keys and values this worker had kept. */
  readonly keptTokens: number;
  /** Whether this worker has the document from now on. */
  readonly isKept: boolean;
}

export interface EncodeReply extends Timed {
  /** Of this share, in order. */
  readonly windows: readonly WindowKey[];
  /** Of the whole state, and of the questions that were given. */
  readonly inputTokens: number;
  /** Of this share's windows, specials included: those whose keys and values this worker had kept. */
  readonly keptTokens: number;
}

export interface AnswerReply extends Timed, WithVectors {
  /** `[questions][options]`, in the order of the request. */
  readonly probabilities: readonly (readonly number[])[];
}

/** What a share of a long input comes to. */
export interface EmbeddedWindows {
  /** `[windows]`, each `[dimensions of the model]`. */
  readonly vectors: readonly Float32Array[];
  /** `[windows]`: content tokens. */
  readonly tokens: readonly number[];
}

export interface AnswerSliceReply extends Timed, WithVectors {
  /** `[runs][pieces × hidden]`, in the order of the runs. */
  readonly vectors: readonly Float32Array[];
}

export interface EmbedReply extends Timed {
  /** `[inputs]`: Float32Array `[dimensions]` or base64, as asked; windows for a share. */
  readonly embeddings: readonly (Float32Array | string | EmbeddedWindows)[];
  readonly inputTokens: number;
  /** Places of inputs that were cut; absent: none. */
  readonly truncated?: readonly number[];
}

export interface ScorePairsReply extends Timed {
  /** `[pairs]`, each `[labels]`: what the graph gave. */
  readonly logits: readonly Float32Array[];
  /** Of all pairs: a first text counts once for each. */
  readonly inputTokens: number;
  /** Places of pairs whose second text was cut; absent: none. */
  readonly truncated?: readonly number[];
}

export interface CountReply {
  readonly inputTokens: number;
}

export interface SharedReply {
  /** `[tasks]` */
  readonly replies: readonly TaskReply[];
}

export type ProbeReply = Record<string, never>;

export interface LoadReply {
  readonly report: LoadedModelReport;
  readonly warnings: readonly string[];
}

export interface ReplyOf {
  readonly 'count-decision': CountReply;
  readonly 'count-embedding': CountReply;
  readonly 'count-pairs': CountReply;
  readonly batch: SharedReply;
  readonly decide: DecideReply;
  readonly encode: EncodeReply;
  readonly answer: AnswerReply;
  readonly 'answer-slice': AnswerSliceReply;
  readonly 'answer-end': AnswerReply;
  readonly embed: EmbedReply;
  readonly 'score-pairs': ScorePairsReply;
  readonly probe: ProbeReply;
  readonly load: LoadReply;
}

/** What a worker is sent. */
export interface TaskOrder {
  readonly task: Task;
  /** Its runs take the cores of all workers, which have nothing to do. */
  readonly isWide: boolean;
}

export type TaskReply = { readonly value: ReplyOf[Task['kind']] } | { readonly error: ErrorRecord };
