// How the process that answers fares at this moment: what `/readyz` and `/metrics` tell, for people.

import type { ErrorCount } from '../domain/request-sample.ts';
import type { AnswerCounts } from '../domain/usage.ts';
import type { EngineStatus } from '../engine/engine.ts';

/** Of this process alone: several servers on one store have one each. */
export interface ServerStatus {
  readonly host: string;
  readonly processId: number;
  /** Milliseconds since the epoch. */
  readonly startedAtMs: number;
  readonly engine: EngineStatus;
  /** null: answers are not shared. */
  readonly answers: AnswerCounts | null;
  /** The one that asks among them. */
  readonly requestsUnderWay: number;
  readonly errors: readonly ErrorCount[];
}
