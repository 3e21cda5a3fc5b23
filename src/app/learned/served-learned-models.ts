// The learned models of a running server: read at the start, and whenever one has been learned anew or is deleted. One that
// cannot be served holds up nobody else: the log and the status say why, and so does the answer to a request for it.

import { basename } from 'node:path';
import type { Config } from '../../config/schema.ts';
import { AppError, messageOf } from '../../domain/errors.ts';
import type { ModelCard } from '../../domain/model-card.ts';
import type { EngineStatus } from '../../engine/engine.ts';
import type { LearnedModel } from '../../learning/learned-model.ts';
import { ModelBusyError } from '../../runtime/model-folder/model-lock.ts';
import { StartError } from '../../runtime/start-error.ts';
import type { ModelSource, UnservedModel } from '../../services/catalog.ts';
import type { LearnedModelStatus, LearnedModels } from '../../services/learned-models.ts';
import { placesOf } from '../pull/pulled-places.ts';
import { findBaseFault, findIdFault } from './learned-base.ts';
import { type LearnedFolder, listLearnedFolders, readLearnedFolder, removeLearnedFolder } from './learned-folder.ts';

/** What answers by heads: the engine of learned models. */
interface Heads {
  put(model: LearnedModel, card: ModelCard): void;
  remove(id: string): boolean;
}

export interface ServingParts {
  readonly config: Config;
  readonly heads: Heads;
  /** Everything else that this server offers: the models of its engine, and those of upstreams. */
  readonly others: readonly ModelCard[];
  /** Ids of those that are wanted; undefined: all of the data folder. */
  readonly wanted: readonly string[] | undefined;
  readonly warn: (message: string, details: { readonly modelId: string }) => void;
}

/** Every one that can be served is. */
export async function serveLearnedModels(parts: ServingParts): Promise<ServedLearnedModels> {
  const models = new ServedLearnedModels(parts);
  await models.start();
  return models;
}

class ServedLearnedModels implements LearnedModels, ModelSource {
  readonly #parts: ServingParts;
  readonly #others: ReadonlyMap<string, ModelCard>;
  #served: ReadonlyMap<string, ModelCard> = new Map();
  #unserved: ReadonlyMap<string, string> = new Map();
  /** As `#served`, made when that changes: every request looks here. */
  models: readonly ModelCard[] = [];
  /** One after the other, so that what was loaded last is served. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(parts: ServingParts) {
    this.#parts = parts;
    this.#others = new Map(parts.others.map((card) => [card.id, card]));
  }

  get unserved(): readonly UnservedModel[] {
    return [...this.#unserved].map(([id, reason]) => ({ id, reason }));
  }

  async start(): Promise<void> {
    const { config, wanted } = this.#parts;
    for (const path of listLearnedFolders(config.dataDir)) {
      if (wanted?.includes(basename(path)) ?? true) await this.#startOne(path);
    }
  }

  /** The engine's status with those that cannot be served. */
  describe(status: EngineStatus): EngineStatus {
    const failed = this.unserved.map(({ id, reason }) => ({ id, state: 'failed' as const, reason }));
    return { ...status, models: [...status.models, ...failed] };
  }

  list(): readonly LearnedModelStatus[] {
    const ids = [...new Set([...this.#served.keys(), ...this.#unserved.keys()])].sort();
    return ids.map((id) => ({ id, card: this.#served.get(id), reason: this.#unserved.get(id) }));
  }

  findIdFault(id: string): string | undefined {
    return this.#others.has(id) ? `${id} is another model of this server` : findIdFault(id, this.#parts.config);
  }

  load(id: string): Promise<ModelCard> {
    return this.#inTurn(async () => {
      const taken = this.findIdFault(id);
      if (taken !== undefined) throw new AppError('conflict', `No learned model can have this id: ${taken}.`);
      const folder = await readLearnedFolder(placesOf(this.#parts.config.dataDir, id).folder);
      const fault = this.#faultOf(folder);
      if (fault !== undefined) throw new StartError(`The learned model ${id} is not served: ${fault}.`);
      return this.#serve(folder);
    });
  }

  remove(id: string): Promise<void> {
    return this.#inTurn(async () => {
      const isKnown = this.#served.has(id) || this.#unserved.has(id);
      try {
        await removeLearnedFolder(this.#parts.config.dataDir, id);
      } catch (error) {
        if (error instanceof ModelBusyError) throw new AppError('conflict', error.message, { cause: error });
        // A command may have deleted it beside the server.
        const isGone = !listLearnedFolders(this.#parts.config.dataDir).includes(this.#placeOf(id));
        if (!isGone) throw error;
        if (!isKnown) throw new AppError('model_not_found', 'There is no such learned model.', { cause: error });
      }
      this.#forget(id);
    });
  }

  async #startOne(path: string): Promise<void> {
    const id = basename(path);
    const taken = this.findIdFault(id);
    if (taken !== undefined) return this.#refuse(id, taken);
    try {
      const folder = await readLearnedFolder(path);
      const fault = this.#faultOf(folder);
      if (fault === undefined) this.#serve(folder);
      else this.#refuse(id, fault);
    } catch (error) {
      this.#refuse(id, 'its folder is broken, and the log of the server says where', messageOf(error));
    }
  }

  /** @param reason for callers @param detail for the log */
  #refuse(id: string, reason: string, detail = reason): void {
    this.#unserved = new Map([...this.#unserved, [id, reason]]);
    this.#parts.warn(`the learned model ${id} is not served: ${detail}`, { modelId: id });
  }

  #faultOf({ model }: LearnedFolder): string | undefined {
    return findBaseFault(model, new Map([...this.#others].map(([id, { digest }]) => [id, digest])));
  }

  /** Engine and catalog in one turn of the event loop: a request finds both as they were, or as they are. */
  #serve(folder: LearnedFolder): ModelCard {
    const { model } = folder;
    const base = this.#others.get(model.base.id);
    if (base === undefined) throw new Error(`${model.id} stands on nothing`);
    const card = cardOf(folder, base);
    this.#parts.heads.put(model, card);
    this.#keep(new Map([...this.#served, [model.id, card]]));
    this.#unserved = new Map([...this.#unserved].filter(([id]) => id !== model.id));
    return card;
  }

  #forget(id: string): void {
    this.#parts.heads.remove(id);
    this.#keep(new Map([...this.#served].filter(([served]) => served !== id)));
    this.#unserved = new Map([...this.#unserved].filter(([unserved]) => unserved !== id));
  }

  #keep(served: ReadonlyMap<string, ModelCard>): void {
    this.#served = served;
    this.models = [...served.values()];
  }

  #placeOf(id: string): string {
    return placesOf(this.#parts.config.dataDir, id).folder;
  }

  #inTurn<T>(action: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(action);
    this.#turn = done.catch(() => undefined);
    return done;
  }
}

/** Its limits are those of the base, and so is its price as long as it has none of its own. */
function cardOf({ digest, manifest, model }: LearnedFolder, base: ModelCard): ModelCard {
  const { limits, isCalibrated } = base;
  return {
    id: model.id,
    type: 'decision',
    description: manifest.description,
    ownedBy: manifest.owned_by,
    releaseDate: manifest.release_date,
    price: base.price,
    digest,
    ...(limits === undefined ? {} : { limits }),
    ...(isCalibrated === undefined ? {} : { isCalibrated }),
    learned: {
      base: model.base,
      embedder: model.embedder,
      questions: model.questions.map(({ head: _head, ...about }) => about),
    },
  };
}
