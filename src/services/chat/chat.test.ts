import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { unrestrictedKey } from '../../domain/api-key.ts';
import type { ChatChunk, ChatRequest } from '../../domain/chat.ts';
import { AppError } from '../../domain/errors.ts';
import type { ModelCard } from '../../domain/model-card.ts';
import type { ChatUpstream, LeavingPolicy } from '../../upstream/chat-upstream.ts';
import type { Accounting } from '../accounting/accounting.ts';
import type { AuthenticatedCaller } from '../caller.ts';
import { Catalog } from '../catalog.ts';
import { ChatService } from './chat.ts';
import type { ChatListener, Keep } from './chat-call.ts';

const LLAMA: ModelCard = {
  id: 'llama',
  type: 'llm',
  description: '',
  ownedBy: 'someone',
  releaseDate: '2026-01-01',
  price: { inputMicroUsd: 1, cachedInputMicroUsd: 1, outputMicroUsd: 1 },
};
const KEY = unrestrictedKey({ id: 'key_1', name: 'test' });
const ASK: ChatRequest = {
  modelId: 'llama',
  format: 'chat',
  stream: true,
  includeUsage: false,
  bodyText: '{}',
  body: {},
};
const USAGE = { inputTokens: 9, outputTokens: 3, cachedTokens: 0, reasoningTokens: 0 };
const STANDING = { budget: null, requests: null, tokens: null, concurrent: null };
const LEFT = new Error('left');
const keepWhole: Keep<string> = (body) => ({ contentType: 'application/json', body, headers: {} });
const keep: ChatListener['keep'] = (chunks) => ({
  contentType: 'text',
  body: chunks.map(({ json }) => json).join(),
  headers: {},
});

/** What the accounting was told, in order. */
let told: object[];
/** How often a stream of the upstream was cut or ended. */
let cuts: unknown[];
let client: AbortController;
let caller: AuthenticatedCaller;

const accounting: Accounting = {
  needsCount: () => true,
  expectsRoom: () => false,
  book: () => ({
    letIn: Promise.resolve({ type: 'let-in', standing: STANDING }),
    complete: async ({ end, usage, isEstimated, reply }) => {
      const kept = caller.idempotency === undefined ? undefined : reply({ costPicoUsd: 1n });
      told.push({ end, usage, isEstimated, kept: kept?.body });
      return { costPicoUsd: 1n, standing: STANDING };
    },
    fail: async (error, partial) => {
      told.push({ error, partial });
    },
  }),
};

/** Says three chunks; `after` may throw or wait in front of each, and in front of the end. */
function upstreamThat(
  after: (said: number, signal: AbortSignal) => Promise<void> = async () => undefined,
  whenClientLeaves: LeavingPolicy = 'estimate',
): ChatUpstream {
  return {
    models: [LLAMA],
    takes: () => true,
    expect: () => ({ inputTokens: 5, cachedTokens: 0, outputTokens: 100 }),
    complete: async () => {
      throw new TypeError('a fault of ours');
    },
    stream: async (_request, signal, watcher) => {
      watcher?.onAsked({ name: 'vendor', whenClientLeaves });
      watcher?.onSent();
      signal.addEventListener('abort', () => cuts.push(signal.reason));
      let said = 0;
      async function* chunks(): AsyncGenerator<ChatChunk> {
        for (; said < 3; said++) {
          await after(said, signal);
          watcher?.onBytes();
          yield { json: String(said) };
        }
        await after(said, signal);
      }
      return { chunks: chunks(), tokens: () => ({ usage: said === 3 ? USAGE : undefined, outputEstimate: said }) };
    },
    close: async () => undefined,
  };
}

function serviceOf(upstream: ChatUpstream): ChatService {
  return new ChatService({ find: () => upstream }, new Catalog([upstream]), accounting);
}

/** A client that takes in what comes. */
const PATIENT: ChatListener = { keep, begin: () => undefined, take: async () => undefined };

beforeEach(() => {
  told = [];
  cuts = [];
  client = new AbortController();
  caller = { key: KEY, keyId: KEY.id, signal: client.signal, requestId: 'req_1', idempotency: undefined };
});

describe('a stream', () => {
  it('that is read to the end is billed before the end is told', async () => {
    const heard: string[] = [];
    const ended = await serviceOf(upstreamThat()).stream(ASK, caller, {
      keep,
      begin: () => heard.push('begin'),
      take: async ({ json }) => {
        heard.push(json);
        expect(told).toEqual([]);
      },
    });
    expect(heard).toEqual(['begin', '0', '1', '2']);
    expect(ended).toMatchObject({ type: 'streamed', usage: USAGE, failure: undefined });
    expect(told).toEqual([{ end: 'completed', usage: USAGE, isEstimated: false, kept: undefined }]);
  });

  it('that cannot begin is closed once, as our failure, and its upstream cut', async () => {
    const fault = new TypeError('no head');
    const begin = () => {
      throw fault;
    };
    const call = serviceOf(upstreamThat()).stream(ASK, caller, { ...PATIENT, begin });
    await expect(call).rejects.toBe(fault);
    expect(told).toEqual([{ error: fault, partial: undefined }]);
    expect(cuts).toEqual([fault]);
  });

  it('that cannot be handed on, though its client is there, is closed once, as our failure, and its upstream cut', async () => {
    const fault = new TypeError('no chunk');
    const take = async () => {
      throw fault;
    };
    const ended = await serviceOf(upstreamThat()).stream(ASK, caller, { ...PATIENT, take });
    expect(ended).toMatchObject({ failure: fault });
    expect(told).toEqual([{ error: fault, partial: undefined }]);
    expect(cuts).toEqual([fault]);
  });

  it('that meets a fault in our own translation is closed as failed', async () => {
    const fault = new TypeError('a fault of ours');
    const upstream = upstreamThat(async (said) => {
      if (said === 2) throw fault;
    });
    const ended = await serviceOf(upstream).stream(ASK, caller, PATIENT);
    expect(ended).toMatchObject({ failure: fault });
    expect(told).toEqual([{ error: fault, partial: undefined }]);
    const whole = serviceOf(upstream).complete({ ...ASK, stream: false }, caller, keepWhole);
    await expect(whole).rejects.toThrow('a fault of ours');
    expect(told).toHaveLength(2);
  });
});

describe('the time of a caller', () => {
  beforeEach(() => {
    vi.useFakeTimers();
    caller = { ...caller, deadlineMs: 50 };
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('ends a call that no upstream has begun to answer, at no cost', async () => {
    const upstream = upstreamThat();
    const stream: ChatUpstream['stream'] = (_request, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const call = serviceOf({ ...upstream, stream }).stream(ASK, caller, PATIENT);
    const failure = expect(call).rejects.toMatchObject({ code: 'upstream_timeout' });
    await vi.advanceTimersByTimeAsync(50);
    await failure;
    expect(told).toEqual([{ error: expect.objectContaining({ code: 'upstream_timeout' }), partial: undefined }]);
  });

  it('ends no stream that has begun', async () => {
    const upstream = upstreamThat(async (said) => {
      if (said === 1) await vi.advanceTimersByTimeAsync(100);
    });
    expect(await serviceOf(upstream).stream(ASK, caller, PATIENT)).toMatchObject({ failure: undefined });
    expect(told).toMatchObject([{ end: 'completed' }]);
  });
});

/** Takes one chunk in, then leaves as a client does. */
const LEAVES_AFTER_ONE: ChatListener = {
  keep,
  begin: () => undefined,
  take: async () => {
    client.abort(LEFT);
    throw LEFT;
  },
};

describe('a client that leaves after one chunk', () => {
  it.each<[LeavingPolicy, object]>([
    ['estimate', { error: LEFT, partial: { usage: { ...USAGE, inputTokens: 5, outputTokens: 0 }, isEstimated: true } }],
    ['free', { error: LEFT, partial: undefined }],
    ['drain', { end: 'client_left', usage: USAGE, isEstimated: false }],
  ])('is closed by the policy %s', async (policy, closing) => {
    await serviceOf(upstreamThat(undefined, policy)).stream(ASK, caller, LEAVES_AFTER_ONE);
    expect(told).toHaveLength(1);
    expect(told[0]).toMatchObject(closing);
    expect(cuts).toEqual(policy === 'drain' ? [] : [LEFT]);
  });

  it('and is drained, costs nothing where the upstream then fails', async () => {
    const failure = new AppError('upstream_error', 'broken');
    const upstream = upstreamThat(async (said) => {
      if (said === 2) throw failure;
    }, 'drain');
    await serviceOf(upstream).stream(ASK, caller, LEAVES_AFTER_ONE);
    expect(told).toEqual([{ error: failure, partial: undefined }]);
  });

  it.each<LeavingPolicy>(['estimate', 'drain', 'free'])(
    'is drained whatever the policy (%s) with an idempotency key, and its reply kept whole',
    async (policy) => {
      caller = { ...caller, idempotency: { keyHash: 'a', fingerprint: 'b' } };
      await serviceOf(upstreamThat(undefined, policy)).stream(ASK, caller, LEAVES_AFTER_ONE);
      expect(told).toEqual([{ end: 'client_left', usage: USAGE, isEstimated: false, kept: '0,1,2' }]);
      expect(cuts).toEqual([]);
    },
  );
});

describe('a client that leaves as the upstream says its last', () => {
  it.each<[LeavingPolicy, object]>([
    ['estimate', { end: 'client_left', usage: USAGE, isEstimated: false }],
    ['drain', { end: 'client_left', usage: USAGE, isEstimated: false }],
    ['free', { error: LEFT, partial: undefined }],
  ])('is closed by the policy %s', async (policy, closing) => {
    const upstream = upstreamThat(async (said) => {
      if (said === 3) client.abort(LEFT);
    }, policy);
    await serviceOf(upstream).stream(ASK, caller, PATIENT);
    expect(told).toHaveLength(1);
    expect(told[0]).toMatchObject(closing);
  });
});

describe('a server that stops', () => {
  /** Stands still in front of the third chunk until it is cut. */
  function stuck(policy: LeavingPolicy): { upstream: ChatUpstream; isStuck: Promise<void> } {
    const { promise, resolve } = Promise.withResolvers<void>();
    const upstream = upstreamThat(async (said, signal) => {
      if (said < 2) return;
      resolve();
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    }, policy);
    return { upstream, isStuck: promise };
  }

  it('waits for calls whose client has left, and cuts them when its time is over: billed by what came', async () => {
    const { upstream, isStuck } = stuck('drain');
    const service = serviceOf(upstream);
    const call = service.stream(ASK, caller, LEAVES_AFTER_ONE);
    await isStuck;
    let isClosed = false;
    const closing = service.close().then(() => {
      isClosed = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isClosed).toBe(false);
    service.cut();
    await closing;
    await call;
    expect(told).toMatchObject([
      { error: LEFT, partial: { isEstimated: true, usage: { inputTokens: 5, outputTokens: 2 } } },
    ]);
  });

  it('lets a cut attempt of an idempotent call cost nothing, because a retry runs anew', async () => {
    caller = { ...caller, idempotency: { keyHash: 'a', fingerprint: 'b' } };
    const { upstream, isStuck } = stuck('drain');
    const service = serviceOf(upstream);
    const call = service.stream(ASK, caller, LEAVES_AFTER_ONE);
    await isStuck;
    service.cut();
    await call;
    expect(told).toEqual([{ error: LEFT, partial: undefined }]);
  });

  it('asks no upstream any more once it was cut', async () => {
    const service = serviceOf(upstreamThat());
    service.cut();
    const call = service.stream(ASK, caller, PATIENT);
    await expect(call).rejects.toMatchObject({ code: 'internal_error' });
    expect(told).toHaveLength(1);
  });

  it('fails the calls of clients that are there, at no cost', async () => {
    const { upstream, isStuck } = stuck('estimate');
    const service = serviceOf(upstream);
    const call = service.stream(ASK, caller, PATIENT);
    await isStuck;
    service.cut();
    // Their connections are closed a moment later.
    client.abort(LEFT);
    expect(await call).toMatchObject({ failure: { code: 'internal_error' } });
    expect(told).toEqual([{ error: expect.objectContaining({ code: 'internal_error' }), partial: undefined }]);
    await service.close();
  });
});
