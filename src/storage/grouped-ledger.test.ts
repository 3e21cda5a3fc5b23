// Group commit over a ledger that answers when the test says: what waits together, what a failure takes with it, and what
// becomes of reservations that nobody knows the fate of.

import { beforeEach, describe, expect, it, vi } from 'vitest';
import { NO_LIMITS } from '../domain/api-key.ts';
import { StoreUnavailableError } from '../domain/errors.ts';
import { GroupedLedger } from './grouped-ledger.ts';
import type { GroupableLedger, LedgerOperation, OperationOutcome } from './ledger-operation.ts';
import type { Reservation, Settlement } from './stores.ts';

interface Applied {
  readonly names: readonly string[];
  succeed(): void;
  fail(error: Error): void;
}

const NO_STANDING = { budget: null, requests: null, tokens: null, concurrent: null };

function nameOf(operation: LedgerOperation): string {
  if (operation.type === 'reserve') return `reserve ${operation.reservation.id}`;
  return operation.type === 'settle' ? `settle ${operation.settlement.id}` : `release ${operation.id}`;
}

/** Each transaction waits until it is told how it ends. */
class ManualLedger implements Pick<GroupableLedger, 'apply'> {
  readonly #applied: Applied[] = [];
  readonly #waiting: ((applied: Applied) => void)[] = [];

  apply(operations: readonly LedgerOperation[]): Promise<readonly OperationOutcome[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly OperationOutcome[]>();
    const outcomes = operations.map(({ type }): OperationOutcome => {
      if (type === 'release') return undefined;
      return { type: type === 'reserve' ? 'reserved' : 'settled', standing: NO_STANDING };
    });
    const applied = { names: operations.map(nameOf), succeed: () => resolve(outcomes), fail: reject };
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#applied.push(applied);
    else waiting(applied);
    return promise;
  }

  async next(): Promise<Applied> {
    return this.#applied.shift() ?? (await new Promise((resolve) => this.#waiting.push(resolve)));
  }

  get isIdle(): boolean {
    return this.#applied.length === 0;
  }
}

let manual: ManualLedger;
let ledger: GroupedLedger;

beforeEach(() => {
  manual = new ManualLedger();
  ledger = new GroupedLedger(manual as unknown as GroupableLedger);
});

function reserve(id: string, withinMs?: number): Promise<unknown> {
  const price = { inputMicroUsd: 1, cachedInputMicroUsd: 1, outputMicroUsd: 1 };
  const names = { id, requestId: id, keyId: 'key', modelId: 'kev', endpoint: '/', instanceId: 'instance' };
  const demand = { costPicoUsd: 1n, tokens: 1, budget: null, limits: NO_LIMITS };
  const reservation: Reservation = {
    ...names,
    price,
    demand,
    isStreamed: false,
    acceptedAtMs: 0,
    idempotency: null,
  };
  return ledger.reserve(reservation, withinMs).catch((error: unknown) => error);
}

const ids = (from: number, to: number): string[] => Array.from({ length: to - from }, (_, index) => `${from + index}`);

describe('operations', () => {
  it('that come while a transaction is under way are committed together, in their order', async () => {
    const first = reserve('a');
    const others = [reserve('b'), ledger.release('x'), reserve('c')];
    const alone = await manual.next();
    expect(alone.names).toEqual(['reserve a']);
    expect(manual.isIdle).toBe(true);
    alone.succeed();
    await first;
    const together = await manual.next();
    expect(together.names).toEqual(['reserve b', 'release x', 'reserve c']);
    together.succeed();
    expect(await Promise.all(others)).toMatchObject([{ type: 'reserved' }, undefined, { type: 'reserved' }]);
  });

  it('are committed at most 256 at once', async () => {
    const all = ids(0, 601).map((id) => reserve(id));
    for (const size of [1, 256, 256, 88]) {
      const applied = await manual.next();
      expect(applied.names).toHaveLength(size);
      applied.succeed();
    }
    expect(await Promise.all(all)).toHaveLength(601);
  });

  it('of which one cannot be applied are applied one by one', async () => {
    const first = reserve('a');
    const others = ['b', 'c', 'd'].map((id) => reserve(id));
    (await manual.next()).succeed();
    await first;
    (await manual.next()).fail(new Error('one of them is wrong'));
    for (const id of ['b', 'c', 'd']) {
      const applied = await manual.next();
      expect(applied.names).toEqual([`reserve ${id}`]);
      if (id === 'c') applied.fail(new Error('this one'));
      else applied.succeed();
    }
    expect(await Promise.all(others)).toMatchObject([
      { type: 'reserved' },
      new Error('this one'),
      { type: 'reserved' },
    ]);
  });
});

describe('operations that nobody waits for', () => {
  const LONG_MS = 60_000;

  it('are committed with the next one, in their order', async () => {
    const patient = [reserve('a', LONG_MS), reserve('b', LONG_MS)];
    expect(manual.isIdle).toBe(true);
    const settled = ledger.settle({ id: 'a' } as Settlement);
    const together = await manual.next();
    expect(together.names).toEqual(['reserve a', 'reserve b', 'settle a']);
    together.succeed();
    expect(await Promise.all([...patient, settled])).toMatchObject([{}, {}, { type: 'settled' }]);
    expect(manual.isIdle).toBe(true);
  });

  it('are committed when their time is over', async () => {
    const patient = reserve('a', 1);
    const alone = await manual.next();
    expect(alone.names).toEqual(['reserve a']);
    alone.succeed();
    expect(await patient).toMatchObject({ type: 'reserved' });
  });
});

describe('a store that is lost', () => {
  it('fails all that wait for it at once, and gives back with the next operations what it may have committed', async () => {
    const lost = new StoreUnavailableError('gone');
    const first = reserve('a');
    const others = [reserve('b'), ledger.release('x'), reserve('c')].map((call) => call.catch((error) => error));
    (await manual.next()).fail(lost);
    expect(await first).toBe(lost);
    (await manual.next()).fail(lost);
    expect(await Promise.all(others)).toEqual([lost, lost, lost]);

    const next = reserve('d');
    const again = await manual.next();
    expect(again.names).toEqual(['release a', 'release b', 'release c', 'reserve d']);
    again.fail(lost);
    expect(await next).toBe(lost);

    const last = reserve('e');
    const well = await manual.next();
    expect(well.names).toEqual(['release a', 'release b', 'release c', 'release d', 'reserve e']);
    well.succeed();
    expect(await last).toMatchObject({ type: 'reserved' });
    const after = reserve('f');
    const clean = await manual.next();
    expect(clean.names).toEqual(['reserve f']);
    clean.succeed();
    await after;
  });

  it('hears first that a reply was not given, before a retry can find it', async () => {
    const lost = new StoreUnavailableError('gone');
    const overruling = { id: 'a', overrules: { keyId: 'key', claimHash: null } } as Settlement;
    const refused = ledger.settle(overruling).catch((error: unknown) => error);
    (await manual.next()).fail(lost);
    expect(await refused).toBe(lost);
    const retry = reserve('b');
    const together = await manual.next();
    expect(together.names).toEqual(['settle a', 'reserve b']);
    together.succeed();
    expect(await retry).toMatchObject({ type: 'reserved' });
  });

  it('hears what is owed to it when it is back, though nobody asks for anything', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const lost = new StoreUnavailableError('gone');
      const first = reserve('a');
      (await manual.next()).fail(lost);
      expect(await first).toBe(lost);
      for (let time = 0; time < 3; time++) {
        await vi.advanceTimersByTimeAsync(1000);
        const alone = await manual.next();
        expect(alone.names).toEqual(['release a']);
        if (time < 2) alone.fail(lost);
        else alone.succeed();
      }
      await vi.advanceTimersByTimeAsync(10_000);
      expect(manual.isIdle).toBe(true);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});
