// The configuration that a server runs by: that of its start, or what it has taken over since.

import type { LoadedConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import type { ModelCard } from '../domain/model-card.ts';
import type { LocalEngine } from '../engine/local-engine.ts';
import type { HttpOptions } from '../http/server.ts';
import { StartError } from '../runtime/start-error.ts';
import type { Aliases, Catalog } from '../services/catalog.ts';
import type { ChatService } from '../services/chat/chat.ts';
import { queueLimitsOf } from './configured-engine.ts';
import type { ReloadableServer } from './reloads.ts';
import type { ServedTelemetry } from './served-telemetry.ts';
import { listUpstreamCards, type ServedUpstreams } from './served-upstreams.ts';

type ConfiguredHttpOptions = Omit<HttpOptions, 'version'>;

/** What of a running server is told of another configuration. */
interface ReloadedParts {
  /** Whether these models of upstreams and these aliases can stand beside what else is served. @throws StartError */
  readonly checkModels: (upstreams: readonly ModelCard[], aliases: Aliases) => void;
  readonly isDraining: () => boolean;
  readonly upstreams: ServedUpstreams;
  readonly chat: Pick<ChatService, 'close'>;
  readonly catalog: Pick<Catalog, 'rename'>;
  readonly engine: Pick<LocalEngine, 'limitQueue'>;
  readonly telemetry: ServedTelemetry | undefined;
}

export class ServedConfig implements ReloadableServer {
  #config: Config;
  #httpOptions: ConfiguredHttpOptions;
  #parts: ReloadedParts | undefined;

  constructor(config: Config) {
    this.#config = config;
    this.#httpOptions = httpOptionsOf(config);
  }

  get config(): Config {
    return this.#config;
  }

  get httpOptions(): ConfiguredHttpOptions {
    return this.#httpOptions;
  }

  /** From now on these are told. */
  connect(parts: ReloadedParts): void {
    this.#parts = parts;
  }

  checkReload(next: LoadedConfig): void {
    if (this.#parts?.isDraining() !== false) throw new StartError('The server is stopping.');
    this.#parts.checkModels(listUpstreamCards(next), next.config.aliases);
  }

  async reload(next: LoadedConfig): Promise<void> {
    const { config } = next;
    const telemetry = await this.#parts?.telemetry?.prepare(config);
    try {
      // A model may have been learned meanwhile. From here on nothing else happens in between.
      this.checkReload(next);
    } catch (error) {
      await telemetry?.drop();
      throw error;
    }
    telemetry?.take();
    this.#parts?.upstreams.replace(next, this.#parts.chat.close());
    this.#parts?.catalog.rename(config.aliases);
    this.#parts?.engine.limitQueue(queueLimitsOf(config));
    this.#config = config;
    this.#httpOptions = httpOptionsOf(config);
  }
}

function httpOptionsOf({ http, decisions, embeddings, learning }: Config): ConfiguredHttpOptions {
  return { ...http, ...decisions, ...embeddings, learningBodyLimitBytes: learning.bodyLimitBytes };
}
