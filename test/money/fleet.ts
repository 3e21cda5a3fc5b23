// Servers over one store, with priced tiny models and a counting chat upstream: one beside another as replicas, or one
// after another as restarts.

import { type Environment, ServerProcess } from '../process/server-process.ts';
import { type AnswerScript, UpstreamDouble } from '../upstream/upstream-double.ts';
import { answerCounted, upstreamSetting } from './counting-upstream.ts';
import type { MoneyStore } from './money-store.ts';
import { PricedModels } from './priced-models.ts';

/** The key of the configuration: all models, all scopes, no budget. */
export const ADMIN_KEY = 'key-of-the-configuration:0123456789';

const SETTINGS: Environment = {
  UMPIRE_API_KEY: ADMIN_KEY,
  UMPIRE_ENGINE_QUEUE_DEADLINE_MS: '600000',
  UMPIRE_ENGINE_PROBE_INTERVAL_MS: '0',
  UMPIRE_LEDGER_INSTANCE_TIMEOUT_MS: '1000',
};

export interface FleetOptions {
  readonly settings?: Environment;
  /** Of the chat upstream. Default: one that counts. */
  readonly answer?: AnswerScript;
  /** What starts each server; default: as users start it. */
  readonly command?: readonly string[] | undefined;
}

export class Fleet {
  readonly store: MoneyStore;
  readonly upstream: UpstreamDouble;
  readonly #models = new PricedModels();
  readonly #settings: Environment;
  readonly #command: readonly string[] | undefined;
  readonly #servers: ServerProcess[] = [];

  private constructor(store: MoneyStore, upstream: UpstreamDouble, { settings, command }: FleetOptions) {
    this.store = store;
    this.upstream = upstream;
    this.#command = command;
    this.#settings = {
      ...SETTINGS,
      ...store.settings,
      UMPIRE_MODELS: this.#models.folders.join(','),
      UMPIRE_UPSTREAMS: upstreamSetting(upstream),
      ...settings,
    };
  }

  /** No server yet. */
  static async over(store: MoneyStore, options: FleetOptions = {}): Promise<Fleet> {
    return new Fleet(store, await UpstreamDouble.start(options.answer ?? answerCounted), options);
  }

  /** @returns one more server, ready */
  async launch(): Promise<ServerProcess> {
    const server = this.spawn();
    await server.ready();
    return server;
  }

  /** One more server, which has only begun to start. @param settings of this one alone */
  spawn(settings: Environment = {}): ServerProcess {
    const server = new ServerProcess({ ...this.#settings, ...settings }, this.#command);
    this.#servers.push(server);
    return server;
  }

  /** @returns the addresses of so many more servers */
  async launchMany(count: number): Promise<string[]> {
    return await Promise.all(Array.from({ length: count }, async () => await (await this.launch()).ready()));
  }

  /** The store stays its owner's. */
  async dispose(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.dispose()));
    this.#models.remove();
    await this.upstream.close();
  }
}
