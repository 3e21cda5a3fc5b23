// Prices over a store in memory and a clock moved by hand.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AuditRecord } from '../domain/audit.ts';
import { StoreUnavailableError } from '../domain/errors.ts';
import type { ModelCard } from '../domain/model-card.ts';
import { type DatedPrice, formatPrice, type Price } from '../domain/money.ts';
import type { PriceStore } from '../storage/stores.ts';
import { PriceService } from './prices.ts';

const price = (inputMicroUsd: number): Price => ({ inputMicroUsd, cachedInputMicroUsd: 1, outputMicroUsd: 2 });
const KEV: ModelCard = {
  id: 'kev',
  type: 'decision',
  description: '',
  ownedBy: 'umpire',
  releaseDate: '2026-01-01',
  price: price(37_800),
};

class MemoryPriceStore implements PriceStore {
  readonly rows: DatedPrice[] = [];
  readonly audit: AuditRecord[] = [];
  list = async (): Promise<readonly DatedPrice[]> =>
    this.rows.toSorted((a, b) => a.modelId.localeCompare(b.modelId) || a.effectiveFromMs - b.effectiveFromMs);

  async insert(row: DatedPrice, audit: AuditRecord): Promise<boolean> {
    const isKnown = this.rows.some((old) => old.modelId === row.modelId && old.effectiveFromMs === row.effectiveFromMs);
    if (isKnown) return false;
    this.rows.push(row);
    this.audit.push(audit);
    return true;
  }
}

let store: MemoryPriceStore;
let nowMs: number;
let prices: PriceService;
const inputPrice = () => prices.priced(KEV).price.inputMicroUsd;
const set = (inputMicroUsd: number, effectiveFromMs?: number) =>
  prices.set({ modelId: 'kev', price: price(inputMicroUsd), effectiveFromMs }, 'key_1');

beforeEach(() => {
  store = new MemoryPriceStore();
  nowMs = 1_000_000;
  prices = new PriceService({ store, nowMs: () => nowMs });
});

describe('the price in force', () => {
  it("is the model's own while none was set", () => {
    expect(prices.priced(KEV)).toBe(KEV);
    expect(prices.findCurrent('kev')).toBeUndefined();
  });

  it('is the newest one whose time has come', async () => {
    await set(10);
    await set(30, nowMs + 1000);
    await set(20, nowMs + 500);
    expect(inputPrice()).toBe(10);
    nowMs += 499;
    expect(inputPrice()).toBe(10);
    nowMs += 1;
    expect(inputPrice()).toBe(20);
    nowMs += 500;
    expect(inputPrice()).toBe(30);
    expect(prices.priced({ ...KEV, id: 'other' }).price.inputMicroUsd).toBe(37_800);
    expect(prices.findCurrent('__proto__')).toBeUndefined();
  });

  it('that another server set is in force here after a refresh', async () => {
    await new PriceService({ store, nowMs: () => nowMs }).set(
      { modelId: 'kev', price: price(5), effectiveFromMs: nowMs },
      'a',
    );
    expect(inputPrice()).toBe(37_800);
    await prices.refresh();
    expect(inputPrice()).toBe(5);
  });

  it('does not go back when an older reading answers late', async () => {
    const { list } = store;
    const release = Promise.withResolvers<void>();
    const early = list().then(async (rows) => {
      await release.promise;
      return rows;
    });
    store.list = () => early;
    const slow = prices.refresh();
    store.list = list;
    await set(7);
    release.resolve();
    await slow;
    expect(inputPrice()).toBe(7);
  });

  it('stays known while the store fails; a start without it fails', async () => {
    await set(10);
    const failures: unknown[] = [];
    const failing = new StoreUnavailableError('down');
    const other = new PriceService({ store, nowMs: () => nowMs, onFailure: (error) => failures.push(error) });
    await other.start();
    other.close();
    store.list = () => Promise.reject(failing);
    await other.set({ modelId: 'mini', price: price(1), effectiveFromMs: undefined }, 'key_1');
    expect(failures).toEqual([failing]);
    expect(other.priced(KEV).price.inputMicroUsd).toBe(10);
    await expect(new PriceService({ store }).start()).rejects.toBe(failing);
  });
});

describe('prices of another server', () => {
  afterEach(() => vi.useRealTimers());

  it('are read again every two seconds until the service is closed, also after a failure', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const failures: unknown[] = [];
    const here = new PriceService({ store, nowMs: () => nowMs, onFailure: (error) => failures.push(error) });
    const seen = () => here.priced(KEV).price.inputMicroUsd;
    await here.start();
    await set(10, nowMs);
    await vi.advanceTimersByTimeAsync(2000);
    expect(seen()).toBe(10);
    const { list } = store;
    store.list = () => Promise.reject(new StoreUnavailableError('down'));
    await vi.advanceTimersByTimeAsync(2000);
    expect(failures).toHaveLength(1);
    store.list = list;
    nowMs += 1;
    await set(20, nowMs);
    await vi.advanceTimersByTimeAsync(2000);
    expect(seen()).toBe(20);
    here.close();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('setting a price', () => {
  it('keeps the history, the latest first, and tells the audit trail', async () => {
    await set(10);
    nowMs += 1;
    await set(20);
    expect((await prices.list()).map((row) => row.price.inputMicroUsd)).toEqual([20, 10]);
    expect(store.audit[0]).toEqual({
      atMs: nowMs - 1,
      actor: 'key_1',
      action: 'price.set',
      target: 'kev',
      details: {
        input_usd: '0.00001',
        cached_input_usd: '0.000001',
        output_usd: '0.000002',
        effective_from: new Date(nowMs - 1).toISOString(),
      },
    });
  });

  it('takes no two prices for one moment', async () => {
    await set(10, nowMs + 5);
    await expect(set(11, nowMs + 5)).rejects.toMatchObject({ code: 'conflict' });
    expect(store.rows).toHaveLength(1);
  });

  it.each([
    ['effective_from', { effectiveFromMs: 999_999 }],
    ['effective_from', { effectiveFromMs: 253_402_300_800_000 }],
    ['effective_from', { effectiveFromMs: Number.NaN }],
    ['model', { modelId: '' }],
    ['model', { modelId: 'a\nb' }],
    ['model', { modelId: 'x'.repeat(257) }],
    ['input_usd', { price: price(-1) }],
    ['input_usd', { price: price(1_000_000_001) }],
    ['input_usd', { price: price(0.5) }],
    ['output_usd', { price: { ...price(1), outputMicroUsd: Number.POSITIVE_INFINITY } }],
    ['cached_input_usd', { price: { ...price(1), cachedInputMicroUsd: -1 } }],
  ])('refuses a wrong %s: %j', async (param, wrong) => {
    const wanted = { modelId: 'kev', price: price(1), effectiveFromMs: undefined, ...wrong };
    await expect(prices.set(wanted, 'key_1')).rejects.toMatchObject({ code: 'invalid_request', param });
    expect(store.rows).toEqual([]);
  });
});

it('formats a price as exact dollars per million tokens', () => {
  expect([37_800, 0, 1_000_000_000, 1].map(formatPrice)).toEqual(['0.0378', '0', '1000', '0.000001']);
});
