import { beforeEach, describe, expect, it } from 'vitest';
import { AccountingBench, callerWith, KEV } from '../../../test/ledger/accounting-bench.ts';
import { STANDING, storeIsDown } from '../../../test/ledger/scripted-ledger.ts';
import { AppError } from '../../domain/errors.ts';
import type { ModelCard } from '../../domain/model-card.ts';
import type { EmbedResult, Engine, Ticket } from '../../engine/engine.ts';
import type { ReserveOutcome } from '../../storage/stores.ts';
import type { AuthenticatedCaller } from '../caller.ts';
import { Catalog } from '../catalog.ts';
import { InferenceService } from './inference.ts';

const RESULT: EmbedResult = {
  embeddings: [],
  inputTokens: 57,
  truncated: [],
  timings: { queueMs: 0, tokenizeMs: 0, inferMs: 0 },
  source: { answer: 'run', keptTokens: 0 },
};
const EMBEDDER: ModelCard = { ...KEV, type: 'embedding' };
const ROOMY = {
  budget: { amountPicoUsd: 10n ** 12n, remainingPicoUsd: 10n ** 12n, resetsAtMs: null },
  requests: { limit: 600, remaining: 500, resetMs: 1000 },
  tokens: { limit: 100_000, remaining: 90_000, resetMs: 1000 },
  concurrent: { limit: 8, remaining: 8 },
};
const LET_IN: ReserveOutcome = { type: 'reserved', standing: ROOMY };

let bench: AccountingBench;
/** What happened, in order. */
let events: string[];
/** Called for every job that began. */
let finishJob: (error?: Error) => void;
/** What the engine says before it is given work. */
let refusal: AppError | undefined;

beforeEach(() => {
  bench = new AccountingBench();
  events = [];
  refusal = undefined;
});

interface Wanted {
  readonly caller?: AuthenticatedCaller;
  readonly model?: ModelCard;
}

function ticketOfJob(): Ticket<EmbedResult> {
  let running: Promise<EmbedResult> | undefined;
  const enter = (): void => {
    if (running !== undefined) return;
    if (refusal !== undefined) throw refusal;
    events.push('began');
    running = new Promise((resolve, reject) => {
      finishJob = (error) => (error === undefined ? resolve(RESULT) : reject(error));
    });
  };
  return {
    countTokens: async () => {
      events.push('counted');
      return 57;
    },
    enter,
    run: async () => {
      enter();
      return (await running) ?? RESULT;
    },
  };
}

/** An embedding of some 60 tokens: decisions go the same way. */
function ask({ caller = callerWith(), model = EMBEDDER }: Wanted = {}) {
  const engine: Pick<Engine, 'ticketFor'> = { ticketFor: () => ticketOfJob() as Ticket<never> };
  const service = new InferenceService(engine as Engine, new Catalog([{ models: [model] }]), bench.accounting);
  const request = { modelId: model.id, inputs: ['a'.repeat(180)], dimensions: undefined, truncate: false } as const;
  return service.embed({ ...request, encoding: 'float', prompt: undefined }, caller, {
    write: () => 'body',
    keep: (_result, body) => ({ contentType: 'application/json', body, headers: {} }),
  });
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A request that ends, after which the store has just told where the key stands. */
async function askOnce(outcome: ReserveOutcome = LET_IN, wanted: Wanted = {}): Promise<void> {
  bench.store.reserveScript.push(outcome);
  const asked = ask(wanted);
  await turn();
  finishJob();
  await asked;
  events = [];
}

/** A reservation that is answered when the test says so. */
function holdReservation(): (outcome: ReserveOutcome | Error) => void {
  const { promise, resolve, reject } = Promise.withResolvers<ReserveOutcome>();
  bench.store.reserveScript.push(() => promise);
  return (outcome) => (outcome instanceof Error ? reject(outcome) : resolve(outcome));
}

/** A job that is done before its reservation is answered. */
async function askAndFinish() {
  const answer = holdReservation();
  const asked = ask();
  await turn();
  finishJob();
  await turn();
  return { asked, answer };
}

describe('a job of a key of which nothing is known', () => {
  it('is told of its limits first, even when the engine has no room', async () => {
    refusal = new AppError('overloaded', 'The queue is full.', { retryAfterMs: 500 });
    const answer = holdReservation();
    const asked = ask();
    await turn();
    answer({ type: 'refused', reason: 'budget', standing: STANDING, retryAfterMs: null });
    await expect(asked).rejects.toMatchObject({ code: 'insufficient_quota' });
  });

  it('begins when it is let in', async () => {
    const letIn = holdReservation();
    const asked = ask();
    await turn();
    expect(events).toEqual(['counted']);
    letIn(LET_IN);
    await turn();
    expect(events).toEqual(['counted', 'began']);
    finishJob();
    expect(await asked).toMatchObject({ type: 'answered', body: 'body' });
  });
});

describe('a job of a key that stood far from its limits a moment ago', () => {
  it('begins at once, is answered when it is let in, and is billed once', async () => {
    await askOnce();
    const letIn = holdReservation();
    const asked = ask();
    await turn();
    expect(events).toEqual(['began', 'counted']);
    finishJob();
    void asked.then(() => events.push('answered'));
    await turn();
    expect(events).toEqual(['began', 'counted']);
    letIn(LET_IN);
    expect(await asked).toMatchObject({ type: 'answered', body: 'body' });
    expect(events).toEqual(['began', 'counted', 'answered']);
    expect(bench.store.settlements).toHaveLength(2);
  });

  it('tells the store of its end together with its begin when it is done before anybody asked for a reservation', async () => {
    await askOnce();
    const { asked, answer: letIn } = await askAndFinish();
    const [, reservation] = bench.store.reservations;
    expect(bench.store.settlements[1]).toMatchObject({ id: reservation?.id, outcome: { end: 'completed' } });
    letIn(LET_IN);
    await asked;
  });

  it('is answered if the store that failed in between turns out to have taken both', async () => {
    await askOnce();
    bench.store.settleScript.push(storeIsDown());
    const { asked, answer } = await askAndFinish();
    answer(storeIsDown());
    expect(await bench.settled(asked)).toMatchObject({ type: 'answered' });
    expect(bench.store.settlements).toHaveLength(3);
  });

  it('is not answered if the store that failed in between turns out to have taken neither', async () => {
    await askOnce();
    bench.store.settleScript.push(storeIsDown(), { type: 'missing' });
    const { asked, answer } = await askAndFinish();
    answer(storeIsDown());
    await expect(bench.settled(asked)).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(bench.unbilled).toBe(0);
  });

  it('is answered unbilled, and counted, by a store that fails, where the configuration wants it', async () => {
    bench = new AccountingBench({ whenStoreFails: 'serve' });
    await askOnce();
    bench.store.settleScript.push({ type: 'missing' });
    const { asked, answer } = await askAndFinish();
    answer(storeIsDown());
    expect(await asked).toMatchObject({ type: 'answered' });
    expect(bench.unbilled).toBe(1);
  });

  it.each([
    ['refused', { type: 'refused', reason: 'budget', standing: STANDING, retryAfterMs: null } as const],
    ['refused by a store that has failed', storeIsDown()],
  ])('is neither answered nor billed when it is %s', async (_how, outcome) => {
    await askOnce();
    const answer = holdReservation();
    const asked = ask();
    await turn();
    answer(outcome);
    await expect(asked).rejects.toMatchObject({
      code: outcome instanceof Error ? 'store_unavailable' : 'insufficient_quota',
    });
    finishJob();
    await turn();
    expect(bench.store.settlements).toHaveLength(1);
  });

  it('leaves the row of a failure when it fails before it is let in', async () => {
    await askOnce();
    const letIn = holdReservation();
    const asked = ask();
    await turn();
    finishJob(new Error('worker lost'));
    await expect(asked).rejects.toThrow('worker lost');
    letIn(LET_IN);
    expect(bench.store.settlements[1]?.outcome).toMatchObject({ end: 'failed', costPicoUsd: 0n });
  });

  it('is refused before anything is opened when the engine has no room', async () => {
    await askOnce();
    const opened = bench.store.reservations.length;
    refusal = new AppError('overloaded', 'The queue is full.', { retryAfterMs: 500 });
    await expect(ask()).rejects.toBe(refusal);
    expect(bench.store.reservations).toHaveLength(opened);
    expect(events).toEqual([]);
  });

  it('waits where a retry may be given an earlier reply', async () => {
    await askOnce();
    holdReservation();
    void ask({ caller: callerWith({ idempotency: { keyHash: 'a'.repeat(64), fingerprint: 'b'.repeat(64) } }) });
    await turn();
    expect(events).toEqual(['counted']);
  });

  it('waits when that was more than two seconds ago', async () => {
    await askOnce();
    bench.clock.advance(2001);
    holdReservation();
    void ask();
    await turn();
    expect(events).toEqual(['counted']);
  });
});

describe('a job of a key that stood near a limit', () => {
  const cost = 60n * BigInt(KEV.price.inputMicroUsd);
  it.each([
    ['budget', { ...ROOMY, budget: { ...ROOMY.budget, remainingPicoUsd: 32n * cost - 1n } }],
    ['requests', { ...ROOMY, requests: { ...ROOMY.requests, remaining: 31 } }],
    ['tokens', { ...ROOMY, tokens: { ...ROOMY.tokens, remaining: 32 * 60 - 1 } }],
    ['requests at a time', { ...ROOMY, concurrent: { limit: 8, remaining: 1 } }],
  ])('waits to be let in: %s', async (_limit, standing) => {
    await askOnce({ type: 'reserved', standing });
    holdReservation();
    void ask();
    await turn();
    expect(events).toEqual(['counted']);
  });
});
