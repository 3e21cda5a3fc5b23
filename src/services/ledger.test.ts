import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../test/engine/manual-clock.ts';
import { ScriptedLedger, STANDING, storeIsDown } from '../../test/ledger/scripted-ledger.ts';
import { type ApiKey, NO_LIMITS } from '../domain/api-key.ts';
import { AppError, type ErrorCode } from '../domain/errors.ts';
import type { ModelCard } from '../domain/model-card.ts';
import type { FinishedWork, OpenRequest } from './accounting.ts';
import { LedgerAccounting, type LedgerOptions } from './ledger.ts';
import type { Requester } from './requester.ts';

const STATUSES: Partial<Record<ErrorCode, number>> = { overloaded: 503, internal_error: 500, upstream_timeout: 504 };
const KEV: ModelCard = {
  id: 'kev',
  type: 'decision',
  description: '',
  ownedBy: 'umpire',
  releaseDate: '2026-01-01',
  price: { inputMicroUsd: 37_800, cachedInputMicroUsd: 37_800, outputMicroUsd: 0 },
};
const LLAMA: ModelCard = { ...KEV, id: 'llama', type: 'llm' };
const KEY: ApiKey = {
  id: 'key_1',
  name: 'test',
  visiblePrefix: 'ump_test',
  models: null,
  scopes: ['inference'],
  budget: { amountPicoUsd: 1_000_000n, reset: 'month' },
  limits: { requestsPerMinute: 60, tokensPerMinute: 1000, concurrentRequests: 4 },
  createdAtMs: 0,
  createdBy: 'server',
  expiresAtMs: null,
  disabledAtMs: null,
  revokedAtMs: null,
  lastUsedAtMs: null,
};
const IDEMPOTENCY = { keyHash: 'a'.repeat(64), fingerprint: 'b'.repeat(64) };
const EXPECTED = { inputTokens: 57, cachedTokens: 0, outputTokens: 0 };
const WORK: FinishedWork = {
  usage: { inputTokens: 57, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 },
  isEstimated: false,
  waitMs: 0.4,
  reply: () => ({ contentType: 'application/json', body: '{"answers":{}}', headers: {} }),
};

let store: ScriptedLedger;
let clock: ManualClock;
let faults: unknown[];
let unbilled: number;
let accounting: LedgerAccounting;

function account(options: Partial<LedgerOptions> = {}): LedgerAccounting {
  return new LedgerAccounting({
    store,
    instanceId: 'instance_1',
    whenStoreFails: 'refuse',
    settleTimeoutMs: 3000,
    idempotency: { windowMs: 60_000, maxReplyBytes: 100, waitMs: 8000 },
    statuses: { completed: 200, clientLeft: 499, ofError: (code) => STATUSES[code] ?? 400 },
    metrics: {
      ledgerAnswered: () => undefined,
      servedUnbilled: () => {
        unbilled += 1;
      },
    },
    onFault: (error) => faults.push(error),
    clock,
    ...options,
  });
}

beforeEach(() => {
  store = new ScriptedLedger();
  clock = new ManualClock();
  clock.advance(1_000_000);
  faults = [];
  unbilled = 0;
  accounting = account();
});

afterEach(() => {
  expect(faults).toEqual([]);
});

const requesterWith = (parts: Partial<Requester> = {}): Requester => ({
  key: KEY,
  signal: new AbortController().signal,
  requestId: 'req_1',
  idempotency: undefined,
  ...parts,
});

function open(requester = requesterWith(), model = KEV, isStreamed = false) {
  return accounting.open({ requester, model, isStreamed, expected: EXPECTED });
}

async function opened(requester?: Requester, model?: ModelCard, isStreamed?: boolean): Promise<OpenRequest> {
  const opening = await open(requester, model, isStreamed);
  if (opening.type !== 'opened') throw new Error('replayed');
  return opening.request;
}

/** Lets the clock run on until the promise is settled. */
async function runUntilSettled<T>(promise: Promise<T>): Promise<T> {
  let isSettled = false;
  const end = (): void => {
    isSettled = true;
  };
  promise.then(end, end);
  while (!isSettled) {
    await new Promise((resolve) => setImmediate(resolve));
    if (!isSettled) clock.advance(10);
  }
  return await promise;
}

/** Lets the clock run on until the store has been told everything. */
async function runUntil(isDone: () => boolean): Promise<void> {
  while (!isDone()) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(10);
  }
}

describe('letting a request in', () => {
  it('reserves what the key allows and the request is expected to cost, at the price in force', async () => {
    const request = await opened();
    expect(request.standing).toBe(STANDING);
    expect(store.reservations).toEqual([
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
    const needsCount = (parts: Partial<ApiKey>) => accounting.needsCount(requesterWith({ key: { ...KEY, ...parts } }));
    expect(needsCount({})).toBe(true);
    expect(needsCount({ budget: null })).toBe(true);
    expect(needsCount({ budget: null, limits: NO_LIMITS })).toBe(false);
    expect(needsCount({ limits: NO_LIMITS })).toBe(true);
    expect(needsCount({ budget: null, limits: { ...NO_LIMITS, requestsPerMinute: 1, concurrentRequests: 1 } })).toBe(
      false,
    );
  });

  it('says what is left of a budget and when it resets, in UTC', async () => {
    store.reserveScript.push({ type: 'refused', reason: 'budget', standing: STANDING, retryAfterMs: 12_345 });
    await expect(open()).rejects.toMatchObject({
      code: 'insufficient_quota',
      message:
        "This request may cost $0.0000021546, and $0.0000004 is left of this key's budget of $0.000001 a month. It resets at 2026-12-01T00:00:00Z.",
      standing: STANDING,
      retryAfterMs: undefined,
    });
    const budget = { amountPicoUsd: 1n, remainingPicoUsd: 0n, resetsAtMs: null };
    store.reserveScript.push({
      type: 'refused',
      reason: 'budget',
      standing: { ...STANDING, budget },
      retryAfterMs: null,
    });
    const key: ApiKey = { ...KEY, budget: { amountPicoUsd: 1n, reset: 'none' } };
    await expect(open(requesterWith({ key }))).rejects.toMatchObject({
      message: expect.stringMatching(/budget of \$0\.000000000001\. It does not reset by itself\.$/),
    });
  });

  it.each([
    ['requests', 'This key may make 60 requests a minute. Try again in 1.3 s.'],
    ['tokens', 'This request may use 57 tokens; this key may use 1000 a minute, and 900 are left. Try again in 1.3 s.'],
    ['concurrent', 'This key may have 4 requests running at a time. Try again in 1.3 s.'],
  ] as const)('says which limit is reached: %s', async (reason, message) => {
    store.reserveScript.push({ type: 'refused', reason, standing: STANDING, retryAfterMs: 1234 });
    await expect(open()).rejects.toMatchObject({
      code: 'rate_limit_exceeded',
      message,
      retryAfterMs: 1234,
      standing: STANDING,
    });
  });

  it('does not ask to wait where waiting cannot help', async () => {
    store.reserveScript.push({ type: 'refused', reason: 'tokens', standing: STANDING, retryAfterMs: null });
    await expect(open()).rejects.toMatchObject({
      message: expect.stringMatching(/Waiting does not help\.$/),
      retryAfterMs: undefined,
    });
  });
});

describe('closing a request', () => {
  it('writes what was used and what it cost', async () => {
    const request = await opened();
    clock.advance(25.4);
    expect(await request.complete(WORK)).toEqual({ costPicoUsd: 2_154_600n, standing: STANDING });
    const [reservation] = store.reservations;
    expect(store.settlements).toEqual([
      {
        id: reservation?.id,
        outcome: {
          end: 'completed',
          status: 200,
          errorCode: null,
          usage: WORK.usage,
          isEstimated: false,
          costPicoUsd: 2_154_600n,
          durationMs: 25,
          waitMs: 0,
        },
      },
    ]);
  });

  it('bills work that was done although the client left', async () => {
    const controller = new AbortController();
    const request = await opened(requesterWith({ signal: controller.signal }));
    controller.abort(new Error('left'));
    await request.complete(WORK);
    expect(store.settlements[0]?.outcome).toMatchObject({ end: 'client_left', status: 499, costPicoUsd: 2_154_600n });
  });

  it('writes a client that left before its work began at cost 0', async () => {
    const controller = new AbortController();
    const request = await opened(requesterWith({ signal: controller.signal }));
    controller.abort(new Error('left'));
    await request.fail(controller.signal.reason);
    expect(store.settlements[0]?.outcome).toMatchObject({
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
    await (await opened()).fail(error);
    expect(store.settlements[0]?.outcome).toMatchObject({ end, status, errorCode, costPicoUsd: 0n });
  });

  it('bills the part of a failed request that it is told of', async () => {
    await (await opened()).fail(new AppError('upstream_timeout', 'late'), { ...WORK, isEstimated: true });
    expect(store.settlements[0]?.outcome).toMatchObject({
      end: 'upstream_failed',
      isEstimated: true,
      costPicoUsd: 2_154_600n,
    });
  });

  it('leaves no row of what was not taken on', async () => {
    await (await opened()).fail(new AppError('overloaded', 'later'));
    await (await opened()).fail(new AppError('context_length_exceeded', 'too long'));
    expect(store.settlements).toEqual([]);
    expect(store.released).toEqual(store.reservations.map(({ id }) => id));
  });

  it("takes an upstream's refusal of a request for a failure: it was passed on", async () => {
    await (await opened(requesterWith(), LLAMA)).fail(new AppError('invalid_request', 'no such parameter'));
    expect(store.settlements[0]?.outcome).toMatchObject({ end: 'failed', status: 400, costPicoUsd: 0n });
  });

  it('fails a request whose reply cannot be made', async () => {
    const request = await opened(requesterWith({ idempotency: IDEMPOTENCY }));
    const reply = () => {
      throw new Error('a fault of ours');
    };
    await expect(request.complete({ ...WORK, reply })).rejects.toThrow('a fault of ours');
    expect(store.settlements).toEqual([
      { id: store.reservations[0]?.id, outcome: expect.objectContaining({ end: 'failed', costPicoUsd: 0n }) },
    ]);
  });
});

describe('a store that fails', () => {
  it('lets nothing in', async () => {
    store.reserveScript.push(storeIsDown());
    await expect(open()).rejects.toMatchObject({ code: 'store_unavailable', retryAfterMs: 1000 });
  });

  it('is asked again for a while at the end of a request', async () => {
    store.settleScript.push(storeIsDown(), storeIsDown());
    const receipt = await runUntilSettled((await opened()).complete(WORK));
    expect(receipt.costPicoUsd).toBe(2_154_600n);
    expect(store.settlements).toHaveLength(3);
    expect(new Set(store.settlements).size).toBe(1);
  });

  it('gets a reply refused that it does not take, and is told later that it was not given', async () => {
    let isDown = true;
    const answer = async () => {
      if (isDown) throw storeIsDown();
      return { type: 'settled', standing: STANDING } as const;
    };
    for (let call = 0; call < 1000; call++) store.settleScript.push(answer);
    const request = await opened();
    const startedMs = clock.nowMs();
    await expect(runUntilSettled(request.complete(WORK))).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(clock.nowMs() - startedMs).toBeGreaterThanOrEqual(3000);
    expect(clock.nowMs() - startedMs).toBeLessThan(3200);
    isDown = false;
    const before = store.settlements.length;
    await runUntil(() => store.settlements.length > before);
    expect(store.settlements.at(-1)).toEqual({
      id: store.reservations[0]?.id,
      outcome: expect.objectContaining({
        end: 'failed',
        status: 400,
        errorCode: 'store_unavailable',
        costPicoUsd: 0n,
        usage: { inputTokens: 0, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 },
      }),
    });
    await runUntil(() => clock.timerCount === 0);
  });

  it('is told the whole cost of a stream later: its client has it already', async () => {
    for (let call = 0; call < 20; call++) store.settleScript.push(storeIsDown());
    const request = await opened(requesterWith(), LLAMA, true);
    await expect(runUntilSettled(request.complete(WORK))).rejects.toMatchObject({ code: 'store_unavailable' });
    await runUntil(() => store.settleScript.length === 0 && clock.timerCount === 0);
    expect(store.settlements.at(-1)?.outcome).toMatchObject({ end: 'completed', costPicoUsd: 2_154_600n });
  });

  it('is told of failures later', async () => {
    store.settleScript.push(storeIsDown(), storeIsDown());
    store.releaseScript.push(storeIsDown());
    await (await opened()).fail(new AppError('upstream_timeout', 'late'));
    await (await opened()).fail(new AppError('overloaded', 'later'));
    await runUntil(() => store.settlements.length === 3 && store.released.length === 2);
    expect(store.settlements.at(-1)?.outcome).toMatchObject({ end: 'upstream_failed' });
  });

  it('gets one last chance when the server stops', async () => {
    store.settleScript.push(storeIsDown());
    await (await opened()).fail(new AppError('upstream_timeout', 'late'));
    await accounting.stop();
    expect(store.settlements).toHaveLength(2);
    expect(clock.timerCount).toBe(0);
  });

  it('never gives a reply paid for that is gone from its books', async () => {
    store.settleScript.push({ type: 'missing' });
    await expect((await opened()).complete(WORK)).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(store.settlements).toHaveLength(1);
    expect(clock.timerCount).toBe(0);
  });

  it('does not hide a fault of ours', async () => {
    store.settleScript.push(new TypeError('a fault of ours'), new TypeError('again'));
    await expect((await opened()).complete(WORK)).rejects.toThrow('a fault of ours');
    await runUntil(() => faults.length > 0);
    expect(faults).toEqual([expect.objectContaining({ message: 'again' })]);
    faults = [];
  });
});

describe('a store that may fail', () => {
  beforeEach(() => {
    accounting = account({ whenStoreFails: 'serve' });
  });

  it('does not keep a request from being served, unbilled and counted', async () => {
    store.reserveScript.push(storeIsDown());
    const request = await opened();
    expect(unbilled).toBe(0);
    expect(await request.complete(WORK)).toMatchObject({ costPicoUsd: 2_154_600n, standing: { budget: null } });
    expect(unbilled).toBe(1);
    expect(store.settlements).toEqual([]);
    store.reserveScript.push(storeIsDown());
    await (await opened()).fail(new Error('something'));
    expect(unbilled).toBe(1);
  });

  it('is told later of what was served', async () => {
    store.settleScript.push(storeIsDown());
    expect(await (await opened()).complete(WORK)).toMatchObject({ costPicoUsd: 2_154_600n });
    await runUntil(() => store.settlements.length === 2);
    expect(store.settlements[1]?.outcome).toMatchObject({ end: 'completed', costPicoUsd: 2_154_600n });
    expect(unbilled).toBe(0);
  });

  it('loses what is gone from its books', async () => {
    store.settleScript.push({ type: 'missing' });
    await (await opened()).complete(WORK);
    expect(unbilled).toBe(1);
  });
});

describe('a retry', () => {
  const retry = () => open(requesterWith({ idempotency: IDEMPOTENCY }));
  const reply = WORK.reply({ costPicoUsd: 0n });

  it('claims its key for the time of the window', async () => {
    await retry();
    expect(store.reservations[0]?.idempotency).toEqual({ ...IDEMPOTENCY, expiresAtMs: 1_060_000 });
  });

  it('is given the first reply', async () => {
    store.reserveScript.push({ type: 'replay', reply });
    expect(await retry()).toEqual({ type: 'replayed', reply, standing: undefined });
  });

  it('is refused if the reply was too large to be kept', async () => {
    store.reserveScript.push({ type: 'replay', reply: null });
    await expect(retry()).rejects.toMatchObject({ code: 'idempotency_key_in_use', param: 'Idempotency-Key' });
  });

  it('is refused if it is another request', async () => {
    store.reserveScript.push({ type: 'mismatch' });
    await expect(retry()).rejects.toMatchObject({ code: 'idempotency_key_reused', param: 'Idempotency-Key' });
  });

  it('waits for the first to end', async () => {
    store.reserveScript.push({ type: 'in-progress' }, { type: 'in-progress' }, { type: 'replay', reply });
    expect(await runUntilSettled(retry())).toMatchObject({ type: 'replayed' });
    expect(store.reservations).toHaveLength(3);
  });

  it('runs anew, and is accepted only then, if the first failed', async () => {
    store.reserveScript.push({ type: 'in-progress' });
    await runUntilSettled(retry());
    expect(store.reservations[1]?.acceptedAtMs).toBeGreaterThan(1_000_000);
  });

  it('does not wait for ever', async () => {
    for (let call = 0; call < 1000; call++) store.reserveScript.push({ type: 'in-progress' });
    await expect(runUntilSettled(retry())).rejects.toMatchObject({
      code: 'idempotency_key_in_use',
      retryAfterMs: 1000,
    });
    expect(clock.nowMs() - 1_000_000).toBeGreaterThanOrEqual(8000);
    expect(store.reservations.length).toBeLessThan(50);
  });

  it('stops waiting when its client leaves', async () => {
    const controller = new AbortController();
    store.reserveScript.push(async () => {
      controller.abort(new Error('left'));
      return { type: 'in-progress' };
    });
    await expect(open(requesterWith({ idempotency: IDEMPOTENCY, signal: controller.signal }))).rejects.toThrow('left');
    expect(clock.timerCount).toBe(0);
  });

  it('keeps the reply, but none that is too large', async () => {
    const request = async () => await opened(requesterWith({ idempotency: IDEMPOTENCY }));
    await (await request()).complete(WORK);
    expect(store.settlements[0]?.reply).toEqual(reply);
    const large = { contentType: 'application/json', body: 'é'.repeat(51), headers: {} };
    await (await request()).complete({ ...WORK, reply: () => large });
    expect(store.settlements[1]?.reply).toBeNull();
    await (await opened()).complete(WORK);
    expect(store.settlements[2]).not.toHaveProperty('reply');
  });

  it('finds the key free after a failure', async () => {
    const request = await opened(requesterWith({ idempotency: IDEMPOTENCY }));
    await request.fail(new AppError('upstream_timeout', 'late'));
    expect(store.settlements[0]).not.toHaveProperty('reply');
  });
});
