// A server that is told to read its configuration again: what it takes over, what waits for a restart, and what is said of
// it. A configuration with a fault changes nothing.

import { findChanges } from '../config/compare.ts';
import { ConfigError, type LoadedConfig } from '../config/load.ts';
import { AppError, messageOf, StoreUnavailableError } from '../domain/errors.ts';
import type { Logger } from '../observability/logger.ts';
import type { Reloading, ReloadReport } from '../services/reload.ts';

export interface ReloadParts {
  /** @throws ConfigError */
  readonly load: () => LoadedConfig;
  /** What the server was started with. */
  readonly started: LoadedConfig;
  readonly logger: Logger;
}

/** What is told of another configuration. */
export interface ReloadableServer {
  /** @throws what speaks against it */
  checkReload(loaded: LoadedConfig): void;
  /** All or nothing. @throws the same */
  reload(loaded: LoadedConfig): Promise<void>;
}

export class Reloads implements Reloading {
  readonly #parts: ReloadParts;
  #server: ReloadableServer | undefined;
  #current: LoadedConfig;
  /** One after the other. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(parts: ReloadParts) {
    this.#parts = parts;
    this.#current = parts.started;
  }

  /** From now on there is something to be told. */
  serve(server: ReloadableServer): void {
    this.#server = server;
  }

  /** Does not reject: a server goes on with what it has. */
  async run(): Promise<void> {
    await this.reload(async () => undefined).catch(() => undefined);
  }

  reload(permit: (report: ReloadReport) => Promise<void>): Promise<ReloadReport> {
    const turn = this.#turn.then(() => this.#reload(permit));
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #reload(permit: (report: ReloadReport) => Promise<void>): Promise<ReloadReport> {
    const { load, started, logger } = this.#parts;
    try {
      if (this.#server === undefined) throw new Error('The server is starting.');
      const next = load();
      this.#server.checkReload(next);
      const changed = findChanges(this.#current, next, 'reloaded');
      const waiting = findChanges(started, next, 'restarted');
      await permit({ changed, waiting });
      await this.#server.reload(next);
      this.#current = next;
      logger.info({ changed }, changed.length === 0 ? 'reloaded: nothing has changed' : 'reloaded the configuration');
      if (waiting.length > 0) logger.warn({ settings: waiting }, 'these settings have changed and wait for a restart');
      return { changed, waiting };
    } catch (error) {
      if (error instanceof StoreUnavailableError) {
        logger.error({ err: error }, 'not reloaded, nothing was changed: the audit trail cannot be written');
        throw error;
      }
      const faults = error instanceof ConfigError ? error.faults : [messageOf(error)];
      logger.error({ faults }, 'not reloaded, nothing was changed: the configuration has faults');
      if (error instanceof AppError) throw error;
      throw new AppError('reload_failed', `Nothing was changed. ${faults.join(' ')}`);
    }
  }
}
