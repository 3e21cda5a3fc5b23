// What a worker tells of its load: which models it has, on what, and how long their golden cases took.

/** Posted once by each worker when its load has ended. */
export type LoadReport =
  | {
      readonly kind: 'loaded';
      /** Of every model that has graphs for it. */
      readonly device: string;
      readonly models: readonly LoadedModelReport[];
      /** What the operator may want to know. */
      readonly notes: readonly string[];
      readonly warnings: readonly string[];
      /** Whether its runs can take the cores of all workers. */
      readonly canBeWide: boolean;
    }
  | { readonly kind: 'failed'; readonly message: string };

/** Posted by a worker whose device has failed: it opens its models anew, and then goes on, or the device is lost. */
export interface DeviceNews {
  readonly kind: 'device';
  readonly state: 'failing' | 'revived' | 'lost';
  /** In the words of the runtime library; for the operator. */
  readonly reason: string;
}

export interface TimedCase {
  /** UTF-16 code units of the state, or of the one input of an embedding; of all rows together. */
  readonly characters: number;
  /** Specials included: of the state; of the input; of all rows. */
  readonly tokens: number;
  /** `[rows]`, of a model that reads rows: tokens of each, specials included. Default: one row of all tokens. */
  readonly rows?: readonly number[];
  /** Of each question, what stands in its branch without its specials; none for embeddings. */
  readonly questions: readonly { readonly tokens: number; readonly options: number }[];
  readonly wallMs: number;
}

export interface LoadedModelReport {
  readonly modelId: string;
  readonly device: string;
  /** Of the graphs in use: `int8`, … */
  readonly precision: string;
  readonly loadMs: number;
  /** Warm runs of golden cases, by which the cost model is calibrated. */
  readonly timedCases: readonly TimedCase[];
  readonly optimizedGraphs: 'read' | 'written' | 'none';
  /** Whether its runs read memory that other threads see; else each worker needs a copy. */
  readonly readsSharedMemory: boolean;
  /** Its documents and questions are read in the same runs: it takes whole decisions alone. Default: false */
  readonly takesWhole?: boolean;
  /** Present where tasks of several callers may share runs; what that takes, by their tokens. */
  readonly batches?: readonly TimedBatch[];
}

/** Rows of golden cases side by side in shared runs, warm. */
export interface TimedBatch {
  /** Specials included. */
  readonly tokens: number;
  readonly wallMs: number;
}
