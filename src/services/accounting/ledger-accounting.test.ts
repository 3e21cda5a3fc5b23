import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  AccountingBench,
  callerWith,
  KEV,
  KEY,
  LLAMA,
  WORK,
  WORK_PICO_USD,
} from '../../../test/ledger/accounting-bench.ts';
import { STANDING } from '../../../test/ledger/scripted-ledger.ts';
import { type ApiKey, NO_LIMITS } from '../../domain/api-key.ts';
import { AppError } from '../../domain/errors.ts';

const IDEMPOTENCY = { keyHash: 'a'.repeat(64), fingerprint: 'b'.repeat(64) };

let bench: AccountingBench;

beforeEach(() => {
  bench = new AccountingBench();
});

afterEach(() => {
  expect(bench.faults).toEqual([]);
});

describe('letting a request in', () => {
  it('reserves what the key allows and the request is expected to cost, at the price in force', async () => {
    expect(await bench.letIn()).toEqual({ type: 'let-in', standing: STANDING });
    expect(bench.store.reservations).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        requestId: 'req_1',
        keyId: 'key_1',
        modelId: 'kev',
        endpoint: '/ai/v1/systemone',
        isStreamed: false,
        acceptedAtMs: 1_000_000,
        price: KEV.price,
        instanceId: 'instance_1',
        demand: { costPicoUsd: 57n * 37_800n, tokens: 57, budget: KEY.budget, limits: KEY.limits },
        idempotency: null,
      },
    ]);
  });

  it('counts tokens beforehand only where a budget or a limit of tokens needs them', () => {
    const needsCount = (parts: Partial<ApiKey>) =>
      bench.accounting.needsCount(callerWith({ key: { ...KEY, ...parts } }));
    expect(needsCount({})).toBe(true);
    expect(needsCount({ budget: null })).toBe(true);
    expect(needsCount({ budget: null, limits: NO_LIMITS })).toBe(false);
    expect(needsCount({ limits: NO_LIMITS })).toBe(true);
    expect(needsCount({ budget: null, limits: { ...NO_LIMITS, requestsPerMinute: 1, concurrentRequests: 1 } })).toBe(
      false,
    );
  });

  it('says what is left of a budget and when it resets, in UTC', async () => {
    bench.store.reserveScript.push({ type: 'refused', reason: 'budget', standing: STANDING, retryAfterMs: 12_345 });
    await expect(bench.letIn()).rejects.toMatchObject({
      code: 'insufficient_quota',
      message:
        "This request may cost $0.0000021546, and $0.0000004 is left of this key's budget of $0.000001 a month. It resets at 2026-12-01T00:00:00Z.",
      standing: STANDING,
      retryAfterMs: undefined,
    });
    const budget = { amountPicoUsd: 1n, remainingPicoUsd: 0n, resetsAtMs: null };
    bench.store.reserveScript.push({
      type: 'refused',
      reason: 'budget',
      standing: { ...STANDING, budget },
      retryAfterMs: null,
    });
    const key: ApiKey = { ...KEY, budget: { amountPicoUsd: 1n, reset: 'none' } };
    await expect(bench.letIn({ caller: callerWith({ key }) })).rejects.toMatchObject({
      message: expect.stringMatching(/budget of \$0\.000000000001\. It does not reset by itself\.$/),
    });
  });

  it.each([
    ['requests', 'This key may make 60 requests a minute. Try again in 1.3 s.'],
    ['tokens', 'This request may use 57 tokens; this key may use 1000 a minute, and 900 are left. Try again in 1.3 s.'],
    ['concurrent', 'This key may have 4 requests running at a time. Try again in 1.3 s.'],
  ] as const)('says which limit is reached: %s', async (reason, message) => {
    bench.store.reserveScript.push({ type: 'refused', reason, standing: STANDING, retryAfterMs: 1234 });
    await expect(bench.letIn()).rejects.toMatchObject({
      code: 'rate_limit_exceeded',
      message,
      retryAfterMs: 1234,
      standing: STANDING,
    });
  });

  it('does not ask to wait where waiting cannot help', async () => {
    bench.store.reserveScript.push({ type: 'refused', reason: 'tokens', standing: STANDING, retryAfterMs: null });
    await expect(bench.letIn()).rejects.toMatchObject({
      message: expect.stringMatching(/Waiting does not help\.$/),
      retryAfterMs: undefined,
    });
  });
});

describe('closing a request', () => {
  it('writes what was used and what it cost', async () => {
    const request = await bench.booked();
    bench.clock.advance(25.4);
    expect(await request.complete(WORK)).toEqual({ costPicoUsd: WORK_PICO_USD, standing: STANDING });
    const [reservation] = bench.store.reservations;
    expect(bench.store.settlements).toEqual([
      {
        id: reservation?.id,
        outcome: {
          end: 'completed',
          status: 200,
          errorCode: null,
          usage: WORK.usage,
          isEstimated: false,
          costPicoUsd: WORK_PICO_USD,
          durationMs: 25,
          waitMs: 0,
          upstream: null,
          upstreamFailures: null,
        },
      },
    ]);
  });

  it('bills work that was done although the client left', async () => {
    const controller = new AbortController();
    const request = await bench.booked({ caller: callerWith({ signal: controller.signal }) });
    controller.abort(new Error('left'));
    await request.complete(WORK);
    expect(bench.store.settlements[0]?.outcome).toMatchObject({
      end: 'client_left',
      status: 499,
      costPicoUsd: WORK_PICO_USD,
    });
  });

  it('writes a client that left before its work began at cost 0', async () => {
    const controller = new AbortController();
    const request = await bench.booked({ caller: callerWith({ signal: controller.signal }) });
    controller.abort(new Error('left'));
    await request.fail(controller.signal.reason);
    expect(bench.store.settlements[0]?.outcome).toMatchObject({
      end: 'client_left',
      status: 499,
      errorCode: null,
      costPicoUsd: 0n,
      waitMs: null,
    });
  });

  it.each([
    [new AppError('upstream_timeout', 'late'), 'upstream_failed', 504, 'upstream_timeout'],
    [new Error('a fault of ours'), 'failed', 500, 'internal_error'],
  ])('writes a failure at cost 0: %s', async (error, end, status, errorCode) => {
    await (await bench.booked()).fail(error);
    expect(bench.store.settlements[0]?.outcome).toMatchObject({ end, status, errorCode, costPicoUsd: 0n });
  });

  it('bills the part of a failed request that it is told of', async () => {
    await (await bench.booked()).fail(new AppError('upstream_timeout', 'late'), { ...WORK, isEstimated: true });
    expect(bench.store.settlements[0]?.outcome).toMatchObject({
      end: 'upstream_failed',
      isEstimated: true,
      costPicoUsd: WORK_PICO_USD,
    });
  });

  it('leaves no row of what was not taken on', async () => {
    await (await bench.booked()).fail(new AppError('overloaded', 'later'));
    await (await bench.booked()).fail(new AppError('context_length_exceeded', 'too long'));
    expect(bench.store.settlements).toEqual([]);
    expect(bench.store.released).toEqual(bench.store.reservations.map(({ id }) => id));
  });

  it("takes an upstream's refusal of a request for a failure: it was passed on", async () => {
    await (await bench.booked({ model: LLAMA })).fail(new AppError('invalid_request', 'no such parameter'));
    expect(bench.store.settlements[0]?.outcome).toMatchObject({ end: 'failed', status: 400, costPicoUsd: 0n });
  });

  it('never happens twice: whoever tries makes a mistake of ours, and nothing is told', async () => {
    const request = await bench.booked();
    await request.complete(WORK);
    await expect(request.complete(WORK)).rejects.toThrow('A booking that is settled has no "work done".');
    await expect(request.fail(new Error('late'))).rejects.toThrow('A booking that is settled has no "work failed".');
    expect(bench.store.settlements).toHaveLength(1);
  });

  it('fails a request whose reply cannot be made', async () => {
    const request = await bench.booked({ caller: callerWith({ idempotency: IDEMPOTENCY }) });
    const reply = () => {
      throw new Error('a fault of ours');
    };
    await expect(request.complete({ ...WORK, reply })).rejects.toThrow('a fault of ours');
    expect(bench.store.settlements).toEqual([
      { id: bench.store.reservations[0]?.id, outcome: expect.objectContaining({ end: 'failed', costPicoUsd: 0n }) },
    ]);
  });
});

describe('a retry', () => {
  const retry = () => bench.letIn({ caller: callerWith({ idempotency: IDEMPOTENCY }) });
  const reply = WORK.reply({ costPicoUsd: 0n });

  it('claims its key for the time of the window', async () => {
    await retry();
    expect(bench.store.reservations[0]?.idempotency).toEqual({ ...IDEMPOTENCY, expiresAtMs: 1_060_000 });
  });

  it('is given the first reply', async () => {
    bench.store.reserveScript.push({ type: 'replay', reply });
    expect(await retry()).toEqual({ type: 'replayed', reply });
  });

  it('is refused if the reply was too large to be kept', async () => {
    bench.store.reserveScript.push({ type: 'replay', reply: null });
    await expect(retry()).rejects.toMatchObject({ code: 'idempotency_key_in_use', param: 'Idempotency-Key' });
  });

  it('is refused if it is another request', async () => {
    bench.store.reserveScript.push({ type: 'mismatch' });
    await expect(retry()).rejects.toMatchObject({ code: 'idempotency_key_reused', param: 'Idempotency-Key' });
  });

  it('waits for the first to end', async () => {
    bench.store.reserveScript.push({ type: 'in-progress' }, { type: 'in-progress' }, { type: 'replay', reply });
    expect(await bench.settled(retry())).toMatchObject({ type: 'replayed' });
    expect(bench.store.reservations).toHaveLength(3);
  });

  it('runs anew, and is accepted only then, if the first failed', async () => {
    bench.store.reserveScript.push({ type: 'in-progress' });
    await bench.settled(retry());
    expect(bench.store.reservations[1]?.acceptedAtMs).toBeGreaterThan(1_000_000);
  });

  it('does not wait for ever', async () => {
    for (let call = 0; call < 1000; call++) bench.store.reserveScript.push({ type: 'in-progress' });
    await expect(bench.settled(retry())).rejects.toMatchObject({
      code: 'idempotency_key_in_use',
      retryAfterMs: 1000,
    });
    expect(bench.clock.nowMs() - 1_000_000).toBeGreaterThanOrEqual(8000);
    expect(bench.store.reservations.length).toBeLessThan(50);
  });

  it('stops waiting when its client leaves', async () => {
    const controller = new AbortController();
    bench.store.reserveScript.push(async () => {
      controller.abort(new Error('left'));
      return { type: 'in-progress' };
    });
    await expect(
      bench.letIn({ caller: callerWith({ idempotency: IDEMPOTENCY, signal: controller.signal }) }),
    ).rejects.toThrow('left');
    expect(bench.clock.timerCount).toBe(0);
  });

  it('keeps the reply, but none that is too large', async () => {
    const request = async () => await bench.booked({ caller: callerWith({ idempotency: IDEMPOTENCY }) });
    await (await request()).complete(WORK);
    expect(bench.store.settlements[0]?.reply).toEqual(reply);
    const large = { contentType: 'application/json', body: 'é'.repeat(51), headers: {} };
    await (await request()).complete({ ...WORK, reply: () => large });
    expect(bench.store.settlements[1]?.reply).toBeNull();
    await (await bench.booked()).complete(WORK);
    expect(bench.store.settlements[2]).not.toHaveProperty('reply');
  });

  it('finds the key free after a failure', async () => {
    const request = await bench.booked({ caller: callerWith({ idempotency: IDEMPOTENCY }) });
    await request.fail(new AppError('upstream_timeout', 'late'));
    expect(bench.store.settlements[0]).not.toHaveProperty('reply');
  });
});
