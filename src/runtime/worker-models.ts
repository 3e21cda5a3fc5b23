// The models of one worker: those it loads at its start, and those that wait until they are first asked for.

import { AppError, messageOf } from '../domain/errors.ts';
import type { LoadedModel } from './load-model.ts';
import type { ModelFolder } from './model-folder/manifest.ts';

/** After a load that failed: each try takes as long as a load. */
const RETRY_AFTER_MS = 60_000;

export interface WorkerModelsOptions {
  /** That are loaded when a task asks for them. */
  readonly laterModels: readonly ModelFolder[];
  readonly load: (folder: ModelFolder) => Promise<LoadedModel>;
  /** A load that nobody had planned has failed. @param reason for the operator: it names folders and files */
  readonly onFault: (reason: string) => void;
  /** Default: the system's, milliseconds from any fixed point. */
  readonly nowMs?: () => number;
}

export class WorkerModels {
  readonly #options: WorkerModelsOptions;
  readonly #loaded = new Map<string, LoadedModel>();
  /** By id: when a task in vain needed it. */
  readonly #failures = new Map<string, number>();

  constructor(options: WorkerModelsOptions) {
    this.#options = options;
  }

  get all(): readonly LoadedModel[] {
    return [...this.#loaded.values()];
  }

  /** @throws StartError */
  async add(folder: ModelFolder): Promise<LoadedModel> {
    const model = await this.#options.load(folder);
    this.#loaded.set(folder.manifest.id, model);
    return model;
  }

  /** Loads anew what runs on a device that has failed. @throws StartError; then these models are gone */
  async reopen(): Promise<void> {
    const lost = this.all.filter(({ report }) => report.device !== 'cpu');
    for (const { report, close } of lost) {
      this.#loaded.delete(report.modelId);
      // What a failed device says at the end of a session is known already.
      await close().catch(() => undefined);
    }
    for (const { folder } of lost) await this.add(folder);
  }

  /** For a task that says so. @throws AppError `model_unavailable` with the reason, for the operator */
  async load(modelId: string): Promise<LoadedModel> {
    const known = this.#loaded.get(modelId);
    if (known !== undefined) return known;
    const folder = this.#findLater(modelId);
    if (folder === undefined) throw new Error(`this worker knows no model ${modelId}`);
    try {
      return await this.add(folder);
    } catch (error) {
      throw new AppError('model_unavailable', messageOf(error));
    }
  }

  /**
   * For a task of a caller. Usually the engine has it loaded before; not so in a worker that replaces a dead one.
   * @returns undefined where there is none @throws AppError `model_unavailable`
   */
  async find(modelId: string): Promise<LoadedModel | undefined> {
    const known = this.#loaded.get(modelId);
    if (known !== undefined || this.#findLater(modelId) === undefined) return known;
    const { onFault, nowMs = () => performance.now() } = this.#options;
    const waitMs = (this.#failures.get(modelId) ?? -Infinity) + RETRY_AFTER_MS - nowMs();
    if (waitMs > 0) throw unavailable(waitMs);
    try {
      return await this.load(modelId);
    } catch (error) {
      this.#failures.set(modelId, nowMs());
      onFault(messageOf(error));
      throw unavailable(RETRY_AFTER_MS);
    }
  }

  #findLater(modelId: string): ModelFolder | undefined {
    return this.#options.laterModels.find(({ manifest }) => manifest.id === modelId);
  }
}

function unavailable(retryAfterMs: number): AppError {
  return new AppError('model_unavailable', 'The model could not be loaded.', { retryAfterMs });
}
