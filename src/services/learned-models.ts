// The learned models of this server as its services see them: they come and go while it runs.

import type { ModelCard } from '../domain/model-card.ts';

export interface LearnedModelStatus {
  readonly id: string;
  /** undefined: it is not served. */
  readonly card: ModelCard | undefined;
  /** Why it is not served, in words without paths. */
  readonly reason: string | undefined;
}

export interface LearnedModels {
  /** Those of the data folder, by id. */
  list(): readonly LearnedModelStatus[];
  /**
   * Reads the folder of that id; requests from now on are answered by it, those that began before by what they began with.
   * @throws AppError `conflict` when the id is another model's; StartError when the folder is broken, or its base is another
   *   one: what was served before stays
   */
  load(id: string): Promise<ModelCard>;
  /**
   * Deletes its folder; requests from now on find none.
   * @throws AppError `model_not_found`; `conflict` while somebody learns it
   */
  remove(id: string): Promise<void>;
  /** Why no learned model can have this id, in words; undefined: it can. */
  findIdFault(id: string): string | undefined;
}
