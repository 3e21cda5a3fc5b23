// What a request used, and how long each part of it took.

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Every kind of token that is billed or reported. */
export interface TokenUsage extends Usage {
  /** Part of the input that an upstream had cached. */
  readonly cachedTokens: number;
  /** Part of the output. */
  readonly reasoningTokens: number;
}

/**
 * Parts of a local job's time, in milliseconds; printed in `Server-Timing`. Tokenising and inference are of all workers
 * together: where several share a job, it takes less time than that.
 */
export interface JobTimings {
  readonly queueMs: number;
  readonly tokenizeMs: number;
  readonly inferMs: number;
}

/** Jobs since the start, by where their results came from, and what is kept at the moment. */
export interface AnswerCounts {
  readonly miss: number;
  readonly merged: number;
  readonly hit: number;
  readonly keptBytes: number;
}
