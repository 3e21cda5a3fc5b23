// What a request used, and how long each part of it took.

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Parts of a local job's time, in milliseconds; printed in `Server-Timing`. */
export interface JobTimings {
  readonly queueMs: number;
  readonly tokenizeMs: number;
  readonly inferMs: number;
}
