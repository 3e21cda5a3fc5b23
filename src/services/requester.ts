// Who asks for a piece of work: the authenticated key, the request it came with, and a signal that is aborted when the
// client leaves.

import type { ApiKey } from '../domain/api-key.ts';

/** What makes a retry the same request; see `IdempotencyClaim`. */
export interface Idempotency {
  /** SHA-256 of the client's `Idempotency-Key`, hex. */
  readonly keyHash: string;
  /** SHA-256 of route and body, hex. */
  readonly fingerprint: string;
}

export interface Requester {
  readonly key: ApiKey;
  readonly signal: AbortSignal;
  /** As in the reply's `x-request-id`. */
  readonly requestId: string;
  readonly idempotency: Idempotency | undefined;
  /** Within which the caller wants its whole answer; undefined: it did not say. Only local models heed it. */
  readonly deadlineMs?: number | undefined;
}
