// A server that is told to read its configuration again: what it takes over, what waits for a restart, and what is said of
// it. A configuration with a fault changes nothing.

import { findChanges } from '../config/compare.ts';
import { ConfigError, type LoadedConfig } from '../config/load.ts';
import { messageOf } from '../domain/errors.ts';
import type { Logger } from '../observability/logger.ts';
import type { Catalog, ModelSource } from '../services/catalog.ts';
import type { ChatService } from '../services/chat/chat.ts';
import type { ServedUpstreams } from './served-upstreams.ts';

export interface ReloadParts {
  /** @throws ConfigError */
  readonly load: () => LoadedConfig;
  /** What the server was started with. */
  readonly started: LoadedConfig;
  readonly logger: Logger;
  /** All or nothing. @throws what speaks against it */
  readonly apply: (loaded: LoadedConfig) => void;
}

/** What of a running server is told of another configuration. */
export interface ReloadedParts {
  /** What offers models besides the upstreams. */
  readonly local: readonly ModelSource[];
  readonly upstreams: ServedUpstreams;
  readonly chat: ChatService;
  readonly catalog: Catalog;
}

export class Reloads {
  readonly #parts: ReloadParts;
  #current: LoadedConfig;

  constructor(parts: ReloadParts) {
    this.#parts = parts;
    this.#current = parts.started;
  }

  /** Does not throw: a server goes on with what it has. */
  run(): void {
    const { load, started, logger, apply } = this.#parts;
    try {
      const next = load();
      apply(next);
      const changed = findChanges(this.#current, next, 'reloaded');
      const waiting = findChanges(started, next, 'restarted');
      this.#current = next;
      logger.info({ changed }, changed.length === 0 ? 'reloaded: nothing has changed' : 'reloaded the configuration');
      if (waiting.length > 0) logger.warn({ settings: waiting }, 'these settings have changed and wait for a restart');
    } catch (error) {
      const faults = error instanceof ConfigError ? error.faults : [messageOf(error)];
      logger.error({ faults }, 'not reloaded, nothing was changed: the configuration has faults');
    }
  }
}
