// What is recorded of every request when it has ended, refused ones included, and the counts that come of it.

import type { ErrorCode } from './errors.ts';

export interface RequestSample {
  readonly method: string;
  /** The route's pattern; `unmatched` when there is none, so that callers cannot invent label values. */
  readonly route: string;
  readonly status: number;
  /** null: it ended without one. */
  readonly errorCode: ErrorCode | null;
  readonly durationMs: number;
}

/** Requests of one process that ended with an error. */
export interface ErrorCount {
  readonly code: ErrorCode;
  readonly sinceStart: number;
  /** `[60]`: of the last hour, the minute that runs last. */
  readonly byMinute: readonly number[];
}
