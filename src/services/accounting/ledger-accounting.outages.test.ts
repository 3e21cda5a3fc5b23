import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AccountingBench, LLAMA, WORK, WORK_PICO_USD } from '../../../test/ledger/accounting-bench.ts';
import { STANDING, storeIsDown } from '../../../test/ledger/scripted-ledger.ts';
import { AppError } from '../../domain/errors.ts';

let bench: AccountingBench;

beforeEach(() => {
  bench = new AccountingBench();
});

afterEach(() => {
  expect(bench.faults).toEqual([]);
});

describe('a store that fails', () => {
  it('lets nothing in', async () => {
    bench.store.reserveScript.push(storeIsDown());
    await expect(bench.letIn()).rejects.toMatchObject({ code: 'store_unavailable', retryAfterMs: 1000 });
  });

  it('is asked again for a while at the end of a request', async () => {
    bench.store.settleScript.push(storeIsDown(), storeIsDown());
    const receipt = await bench.settled((await bench.booked()).complete(WORK));
    expect(receipt.costPicoUsd).toBe(WORK_PICO_USD);
    expect(bench.store.settlements).toHaveLength(3);
    expect(new Set(bench.store.settlements).size).toBe(1);
  });

  it('gets a reply refused that it does not take, and is told later that it was not given', async () => {
    let isDown = true;
    const answer = async () => {
      if (isDown) throw storeIsDown();
      return { type: 'settled', standing: STANDING } as const;
    };
    for (let call = 0; call < 1000; call++) bench.store.settleScript.push(answer);
    const request = await bench.booked();
    const startedMs = bench.clock.nowMs();
    await expect(bench.settled(request.complete(WORK))).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(bench.clock.nowMs() - startedMs).toBeGreaterThanOrEqual(3000);
    expect(bench.clock.nowMs() - startedMs).toBeLessThan(3200);
    isDown = false;
    const before = bench.store.settlements.length;
    const told = bench.store.settlements.at(-1);
    await bench.until(() => bench.store.settlements.length > before);
    // Before the client heard of it: what it sends next finds nothing of a reply that may have been committed.
    expect(bench.store.settlements.at(-1)).toBe(told);
    expect(told).toEqual({
      id: bench.store.reservations[0]?.id,
      overrules: { keyId: 'key_1', claimHash: null },
      outcome: expect.objectContaining({
        end: 'failed',
        status: 503,
        errorCode: 'store_unavailable',
        costPicoUsd: 0n,
        usage: { inputTokens: 0, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 },
      }),
    });
    await bench.until(() => bench.clock.timerCount === 0);
  });

  it('is told the whole cost of a stream later: its client has it already', async () => {
    for (let call = 0; call < 20; call++) bench.store.settleScript.push(storeIsDown());
    const request = await bench.booked({ model: LLAMA, isStreamed: true });
    await expect(bench.settled(request.complete(WORK))).rejects.toMatchObject({ code: 'store_unavailable' });
    await bench.until(() => bench.store.settleScript.length === 0 && bench.clock.timerCount === 0);
    expect(bench.store.settlements.at(-1)?.outcome).toMatchObject({ end: 'completed', costPicoUsd: WORK_PICO_USD });
  });

  it('is told of failures later', async () => {
    bench.store.settleScript.push(storeIsDown(), storeIsDown());
    bench.store.releaseScript.push(storeIsDown());
    await (await bench.booked()).fail(new AppError('upstream_timeout', 'late'));
    await (await bench.booked()).fail(new AppError('overloaded', 'later'));
    await bench.until(() => bench.store.settlements.length === 3 && bench.store.released.length === 2);
    expect(bench.store.settlements.at(-1)?.outcome).toMatchObject({ end: 'upstream_failed' });
  });

  it('gets one last chance when the server stops', async () => {
    bench.store.settleScript.push(storeIsDown());
    await (await bench.booked()).fail(new AppError('upstream_timeout', 'late'));
    await bench.accounting.stop();
    expect(bench.store.settlements).toHaveLength(2);
    expect(bench.clock.timerCount).toBe(0);
  });

  it('is told of every open request before the server ends', async () => {
    const goOn = Promise.withResolvers<void>();
    bench.store.settleScript.push(async () => {
      await goOn.promise;
      return { type: 'settled', standing: STANDING };
    });
    const request = await bench.booked();
    const done: string[] = [];
    const stopped = bench.accounting.stop().then(() => done.push('stopped'));
    const completed = request.complete(WORK).then(() => done.push('completed'));
    goOn.resolve();
    await Promise.all([stopped, completed]);
    expect(done).toEqual(['completed', 'stopped']);
  });

  it('does not keep the server from ending', async () => {
    await bench.booked();
    await bench.settled(bench.accounting.stop());
    expect(bench.clock.nowMs()).toBeGreaterThanOrEqual(1_003_000);
  });

  it('never gives a reply paid for that is gone from its books', async () => {
    bench.store.settleScript.push({ type: 'missing' });
    await expect((await bench.booked()).complete(WORK)).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(bench.store.settlements).toHaveLength(1);
    expect(bench.clock.timerCount).toBe(0);
  });

  it('does not hide a fault of ours', async () => {
    bench.store.settleScript.push(new TypeError('a fault of ours'), new TypeError('again'));
    await expect((await bench.booked()).complete(WORK)).rejects.toThrow('a fault of ours');
    await bench.until(() => bench.faults.length > 0);
    expect(bench.faults.splice(0)).toEqual([expect.objectContaining({ message: 'again' })]);
  });
});

describe('a store that may fail', () => {
  beforeEach(() => {
    bench = new AccountingBench({ whenStoreFails: 'serve' });
  });

  it('does not keep a request from being served, bench.unbilled and counted', async () => {
    bench.store.reserveScript.push(storeIsDown());
    const request = await bench.booked();
    expect(bench.unbilled).toBe(0);
    expect(await request.complete(WORK)).toMatchObject({ costPicoUsd: WORK_PICO_USD, standing: { budget: null } });
    expect(bench.unbilled).toBe(1);
    expect(bench.store.settlements).toEqual([]);
    bench.store.reserveScript.push(storeIsDown());
    await (await bench.booked()).fail(new Error('something'));
    expect(bench.unbilled).toBe(1);
  });

  it('is told later of what was served', async () => {
    bench.store.settleScript.push(storeIsDown());
    expect(await (await bench.booked()).complete(WORK)).toMatchObject({ costPicoUsd: WORK_PICO_USD });
    await bench.until(() => bench.store.settlements.length === 2);
    expect(bench.store.settlements[1]?.outcome).toMatchObject({ end: 'completed', costPicoUsd: WORK_PICO_USD });
    expect(bench.unbilled).toBe(0);
  });

  it('loses what is gone from its books', async () => {
    bench.store.settleScript.push({ type: 'missing' });
    await (await bench.booked()).complete(WORK);
    expect(bench.unbilled).toBe(1);
  });
});
