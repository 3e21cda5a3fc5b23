// Who asks for a piece of work, once its key is known: what the accounting and the rooms need beside what the engine does.

import type { ApiKey } from '../domain/api-key.ts';
import type { TraceSpan } from '../domain/trace.ts';
import type { Caller } from '../engine/engine.ts';

/** What makes a retry the same request; see `IdempotencyClaim`. */
export interface Idempotency {
  /** SHA-256 of the client's `Idempotency-Key`, hex. */
  readonly keyHash: string;
  /** SHA-256 of route and body, hex. */
  readonly fingerprint: string;
}

export interface AuthenticatedCaller extends Caller {
  readonly key: ApiKey;
  /** As in the reply's `x-request-id`. */
  readonly requestId: string;
  readonly idempotency: Idempotency | undefined;
  /** Of the request. Absent: it is not traced. */
  readonly span?: TraceSpan | undefined;
}
