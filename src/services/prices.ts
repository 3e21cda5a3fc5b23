// What a token of each model costs at a moment. Owns which price is in force; the models' own prices come with their
// cards, and what a request costs is domain/money.ts.

import type { AuditRecord } from '../domain/audit.ts';
import { AppError } from '../domain/errors.ts';
import { isModelText, isTime, MODEL_RULE } from '../domain/field-rules.ts';
import type { ModelCard } from '../domain/model-card.ts';
import { type DatedPrice, formatPrice, MAX_PRICE_MICRO_USD, type Price } from '../domain/money.ts';
import type { PriceStore } from '../storage/stores.ts';

/** Prices that another process has set are in force here after this time at the latest, plus that of one query. */
const REFRESH_MS = 2000;

export interface NewPrice {
  readonly modelId: string;
  readonly price: Price;
  /** Milliseconds since the epoch, not in the past; undefined: now. */
  readonly effectiveFromMs: number | undefined;
}

export interface PriceServiceOptions {
  readonly store: PriceStore;
  /** Milliseconds since the epoch. Default: the system's clock. */
  readonly nowMs?: () => number;
  /** A refresh failed; the prices known before stay in force. */
  readonly onFailure?: (error: unknown) => void;
}

export class PriceService {
  readonly #options: PriceServiceOptions;
  readonly #nowMs: () => number;
  /** By model; in each list the latest first. */
  #prices: ReadonlyMap<string, readonly DatedPrice[]> = new Map();
  #lastReadStarted = 0;
  #lastReadApplied = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: PriceServiceOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? Date.now;
  }

  /** Reads all prices, then again and again until `close`. @throws StoreUnavailableError when the first reading fails */
  async start(): Promise<void> {
    await this.refresh();
    this.#schedule();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  /** Of readings at the same time the one that began last counts. @throws StoreUnavailableError */
  async refresh(): Promise<void> {
    this.#lastReadStarted += 1;
    const reading = this.#lastReadStarted;
    const all = await this.#options.store.list();
    if (reading <= this.#lastReadApplied) return;
    this.#lastReadApplied = reading;
    this.#prices = Map.groupBy(all.toReversed(), ({ modelId }) => modelId);
  }

  /** The newest price that is in force; undefined: none was set, so the model's own holds. */
  findCurrent(modelId: string): DatedPrice | undefined {
    const prices = this.#prices.get(modelId);
    if (prices === undefined) return undefined;
    const nowMs = this.#nowMs();
    return prices.find(({ effectiveFromMs }) => effectiveFromMs <= nowMs);
  }

  /** The card with the price in force. */
  priced(card: ModelCard): ModelCard {
    const current = this.findCurrent(card.id);
    return current === undefined ? card : { ...card, price: current.price };
  }

  /** Every price that was ever set, and those still to come, by model, the latest first. */
  async list(): Promise<readonly DatedPrice[]> {
    await this.refresh();
    return [...this.#prices.values()].flat();
  }

  /** @throws AppError `invalid_request`; `conflict` when there is a price of the same model and moment */
  async set({ modelId, price, effectiveFromMs }: NewPrice, actor: string): Promise<DatedPrice> {
    const nowMs = this.#nowMs();
    checkModelId(modelId);
    checkPrice(price);
    if (effectiveFromMs !== undefined) checkMoment(effectiveFromMs, nowMs);
    const dated = { modelId, price, effectiveFromMs: effectiveFromMs ?? nowMs, createdAtMs: nowMs, createdBy: actor };
    if (!(await this.#options.store.insert(dated, auditOf(dated)))) {
      throw new AppError('conflict', 'There is a price of this model from this moment on; prices are never changed.');
    }
    // It is set, whether it can be read back now or a moment later.
    await this.#refreshOrTell();
    return dated;
  }

  async #refreshOrTell(): Promise<void> {
    try {
      await this.refresh();
    } catch (error) {
      this.#options.onFailure?.(error);
    }
  }

  #schedule(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(async () => {
      await this.#refreshOrTell();
      this.#schedule();
    }, REFRESH_MS);
    // A process that has nothing else to do may end.
    this.#timer.unref();
  }
}

function checkModelId(modelId: string): void {
  if (!isModelText(modelId)) throw new AppError('invalid_request', MODEL_RULE, { param: 'model' });
}

const PRICE_FIELDS = [
  ['inputMicroUsd', 'input_usd'],
  ['cachedInputMicroUsd', 'cached_input_usd'],
  ['outputMicroUsd', 'output_usd'],
] as const;

function checkPrice(price: Price): void {
  for (const [field, param] of PRICE_FIELDS) {
    if (Number.isInteger(price[field]) && price[field] >= 0 && price[field] <= MAX_PRICE_MICRO_USD) continue;
    const message = 'A price is at most 1,000 dollars per 1,000,000 tokens, with at most 6 decimals.';
    throw new AppError('invalid_request', message, { param });
  }
}

function checkMoment(effectiveFromMs: number, nowMs: number): void {
  if (isTime(effectiveFromMs) && effectiveFromMs >= nowMs) return;
  throw new AppError('invalid_request', 'A price takes effect now or later: what is past keeps its price.', {
    param: 'effective_from',
  });
}

function auditOf({ modelId, price, effectiveFromMs, createdAtMs, createdBy }: DatedPrice): AuditRecord {
  return {
    atMs: createdAtMs,
    actor: createdBy,
    action: 'price.set',
    target: modelId,
    details: {
      input_usd: formatPrice(price.inputMicroUsd),
      cached_input_usd: formatPrice(price.cachedInputMicroUsd),
      output_usd: formatPrice(price.outputMicroUsd),
      effective_from: new Date(effectiveFromMs).toISOString(),
    },
  };
}
