// What an app is built over: the stores and services of its configuration, or none of them. Types alone.

import type { LocalEngine } from '../engine/local-engine.ts';
import type { Authenticator } from '../http/authenticate.ts';
import type { Logger } from '../observability/logger.ts';
import type { Administration } from '../services/administration.ts';
import type { Reloading } from '../services/reload.ts';
import type { LedgerStore } from '../storage/stores.ts';
import type { ServedTelemetry } from './served-telemetry.ts';

export interface AppParts {
  readonly version: string;
  readonly logger: Logger;
  /** For what the engine tells; absent: the same. */
  readonly engineLogger?: Logger;
  readonly authenticator: Authenticator;
  /** Absent: without the routes that need a store, and every model at its own price. */
  readonly administration?: Administration;
  /** Absent: nothing is metered. */
  readonly ledger?: {
    readonly store: LedgerStore;
    /** Of this process, for its reservations. */
    readonly instanceId: string;
  };
  /** Absent: nothing is traced. Whoever opened it closes it. */
  readonly telemetry?: ServedTelemetry | undefined;
  /** undefined: optimised graphs are not kept. */
  readonly cacheFolder: string | undefined;
  /** Absent: no administrator has the configuration read again. */
  readonly reloading?: Reloading;
  /** Absent: one that runs the configured models. */
  readonly engine?: LocalEngine;
  /** Learned models that are wanted; absent: all of the data folder. */
  readonly learnedIds?: readonly string[] | undefined;
}

export type ServerParts = Pick<AppParts, 'version' | 'logger' | 'engineLogger' | 'engine' | 'reloading'>;
