// Who asks for a piece of work: the authenticated key, and a signal that is aborted when the client leaves.

import type { ApiKey } from '../domain/api-key.ts';

export interface Requester {
  readonly key: ApiKey;
  readonly signal: AbortSignal;
}
