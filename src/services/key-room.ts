// Whether a key has room for any request at all, before its body is read: what refuses every request of the key need not
// be found out by parsing megabytes. A look, no reservation: who passes may still be refused.

import type { KeyStanding } from '../domain/account.ts';
import { type ApiKey, LIMIT_NAMES } from '../domain/api-key.ts';
import { type AppError, StoreUnavailableError } from '../domain/errors.ts';
import type { ModelType } from '../domain/model-card.ts';
import type { Catalog } from './catalog.ts';
import { limitError, spentBudgetError } from './refusal.ts';

export interface KeyRoomParts {
  readonly catalog: Pick<Catalog, 'list'>;
  readonly usage: { standing(key: ApiKey): Promise<KeyStanding> };
}

export class KeyRoom {
  readonly #parts: KeyRoomParts;

  constructor(parts: KeyRoomParts) {
    this.#parts = parts;
  }

  /** @returns AppError `insufficient_quota`, `rate_limit_exceeded`; undefined: there is room, or nobody can say */
  async findRefusal(key: ApiKey, type: ModelType): Promise<AppError | undefined> {
    const hasLimits = LIMIT_NAMES.some((name) => key.limits[name] !== null);
    if (key.budget === null && !hasLimits) return undefined;
    try {
      const { standing, limit } = await this.#parts.usage.standing(key);
      const isSpent = standing.budget?.remainingPicoUsd === 0n && this.#everyModelCosts(key, type);
      if (isSpent) return spentBudgetError(standing, key.budget);
      return limit === null ? undefined : limitError({ ...limit, standing }, key.limits);
    } catch (error) {
      // What becomes of requests then is decided where they are let in.
      if (error instanceof StoreUnavailableError) return undefined;
      throw error;
    }
  }

  /** A spent budget still lets in what is free. */
  #everyModelCosts(key: ApiKey, type: ModelType): boolean {
    const cards = this.#parts.catalog.list(key).filter((card) => card.type === type);
    return cards.every(({ price }) => price.inputMicroUsd > 0 && price.cachedInputMicroUsd > 0);
  }
}
