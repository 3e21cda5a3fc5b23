// One model at several upstreams: a call that fails at one before anything of it was sent to the caller goes to the next,
// within the caller's time. An upstream that failed again and again is left out while its breaker is open.

import type { ChatChunk, ChatFormat, ChatRequest } from '../domain/chat.ts';
import type { FailureReason } from '../domain/errors.ts';
import type { ModelCard } from '../domain/model-card.ts';
import type { BilledTokens } from '../domain/money.ts';
import type { CallWatcher, ChatCompletion, ChatStream, ChatUpstream } from './chat-upstream.ts';
import type { BreakerCall, CircuitBreaker } from './circuit-breaker.ts';
import { PhaseTimers } from './phase-timers.ts';
import { STREAM_ADVICE } from './upstream-failure.ts';
import { UpstreamFault } from './upstream-fault.ts';
import { drawOrder } from './upstream-order.ts';

export interface FailoverMember {
  readonly upstream: ChatUpstream;
  /** Of all members or of none: without weights they are asked in their order. */
  readonly weight: number | undefined;
  readonly breaker: CircuitBreaker;
  /** Its longest time for a whole answer, for a whole stream, and for the first byte of a stream. */
  readonly totalMs: number;
  readonly streamTotalMs: number;
  readonly firstByteMs: number;
  /**
   * How long a whole answer may be silent before the next upstream is asked, if there is one. Default: half of the time that
   * is left for all of them. Most servers say nothing before a whole answer is complete, so a limit that knows nothing of
   * the model must be long; half leaves as much for the others.
   */
  readonly wholeFirstByteMs?: number | undefined;
  /** A call failed here, and the next upstream is asked. */
  readonly onPassedOn?: ((reason: FailureReason) => void) | undefined;
}

export interface FailoverOptions {
  /** Two or more, of one model; what is told of it is what the first one says. */
  readonly members: readonly FailoverMember[];
  /** From 0 to below 1. Default: Math.random */
  readonly random?: () => number;
}

/** What is asked, whoever answers it. */
interface Asked {
  readonly request: ChatRequest;
  /** Aborted when the caller left or its time is over. */
  readonly signal: AbortSignal;
  readonly watcher: CallWatcher;
  /** How long a member may say nothing before the next one is asked, as far as the configuration goes. */
  readonly firstByteMs: (member: FailoverMember) => number;
}

/** One call to one member. */
interface Attempt extends Asked {
  readonly member: FailoverMember;
  readonly call: BreakerCall;
  readonly silence: AllowedSilence | undefined;
}

/** How long one may say nothing as long as somebody else can be asked; undefined where nobody is left. */
interface AllowedSilence {
  readonly firstByteMs: number;
  /** By the configuration it might have had longer: its silence says nothing of it. */
  readonly isHurried: boolean;
}

const UNWATCHED: CallWatcher = {
  onAsked: () => undefined,
  onSent: () => undefined,
  onBytes: () => undefined,
  onFailed: () => undefined,
};
const TOO_LONG = 'The upstreams took too long for the whole request.';

export class FailoverUpstream implements ChatUpstream {
  readonly models: readonly ModelCard[];
  readonly #members: readonly FailoverMember[];
  readonly #random: () => number;

  constructor({ members, random = Math.random }: FailoverOptions) {
    this.#members = members;
    this.#random = random;
    this.models = members[0]?.upstream.models ?? [];
  }

  takes(format: ChatFormat): boolean {
    return this.#members.some(({ upstream }) => upstream.takes(format));
  }

  /** As much as it may be, whoever answers. */
  expect(request: ChatRequest): BilledTokens {
    const able = this.#members.filter(({ upstream }) => upstream.takes(request.format));
    const expected = able.map(({ upstream }) => upstream.expect(request));
    return {
      inputTokens: Math.max(...expected.map(({ inputTokens }) => inputTokens)),
      cachedTokens: 0,
      outputTokens: Math.max(...expected.map(({ outputTokens }) => outputTokens)),
    };
  }

  async complete(request: ChatRequest, signal: AbortSignal, watcher = UNWATCHED): Promise<ChatCompletion> {
    const longestMs = Math.max(...this.#members.map(({ totalMs }) => totalMs));
    const timers = new PhaseTimers(signal, longestMs, `${TOO_LONG} ${STREAM_ADVICE}`);
    try {
      const endMs = performance.now() + longestMs;
      const firstByteMs = ({ wholeFirstByteMs }: FailoverMember) => wholeFirstByteMs ?? halfUntil(endMs);
      return await this.#askEach({ request, signal: timers.signal, watcher, firstByteMs }, askWhole);
    } finally {
      timers.stop();
    }
  }

  async stream(request: ChatRequest, signal: AbortSignal, watcher = UNWATCHED): Promise<ChatStream> {
    const longestMs = Math.max(...this.#members.map(({ streamTotalMs }) => streamTotalMs));
    const timers = new PhaseTimers(signal, longestMs, TOO_LONG);
    try {
      const firstByteMs = (member: FailoverMember) => member.firstByteMs;
      return await this.#askEach({ request, signal: timers.signal, watcher, firstByteMs }, askStream);
    } finally {
      // From here on the clocks of the upstream that answers hold.
      timers.stop();
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#members.map(({ upstream }) => upstream.close()));
  }

  async #askEach<Answer>(asked: Asked, ask: (attempt: Attempt) => Promise<Answer>): Promise<Answer> {
    const { request, signal } = asked;
    const order = this.#order(request.format);
    try {
      for (let place = 0; ; place++) {
        const member = order[place];
        if (member === undefined) throw new Error('A model without an upstream.');
        const isLast = place === order.length - 1;
        const silence = isLast ? undefined : silenceOf(member, asked);
        const call = member.breaker.begin();
        const outcome = await this.#attempt({ ...asked, request: copyOf(request), member, call, silence }, ask);
        if ('answer' in outcome) return outcome.answer;
        const { error } = outcome;
        if (isLast || signal.aborted || !(error instanceof UpstreamFault)) throw error;
        member.onPassedOn?.(error.reason);
      }
    } finally {
      request.letGo?.();
    }
  }

  async #attempt<Answer>(attempt: Attempt, ask: (attempt: Attempt) => Promise<Answer>) {
    const { signal, call, silence } = attempt;
    try {
      return { answer: await ask(attempt) };
    } catch (error) {
      const reason = error instanceof UpstreamFault ? error.reason : undefined;
      // What our own limit of requests at a time refuses, or a caller in a hurry, says nothing of the upstream.
      const isNoFault = reason === 'busy' || (reason === 'timeout' && silence?.isHurried === true);
      if (signal.aborted || isNoFault) call.ended();
      else judge(call, error);
      return { error };
    }
  }

  /** Those that are left out are asked all the same where there is nobody else: one of them may be back. */
  #order(format: ChatFormat): readonly FailoverMember[] {
    const able = this.#members.filter(({ upstream }) => upstream.takes(format));
    const ready = able.filter(({ breaker }) => breaker.takesCalls);
    return drawOrder(ready.length > 0 ? ready : able, this.#random);
  }
}

function silenceOf(member: FailoverMember, { firstByteMs, watcher }: Asked): AllowedSilence {
  const configuredMs = firstByteMs(member);
  const callersMs = halfUntil(watcher.endMs ?? Infinity);
  return { firstByteMs: Math.min(configuredMs, callersMs), isHurried: callersMs < configuredMs };
}

/** As much is left for whoever is asked next. */
function halfUntil(endMs: number): number {
  return Math.max(1, (endMs - performance.now()) / 2);
}

/** The body stays with the caller's request as long as somebody else may be asked; each upstream lets go of its own. */
function copyOf(request: ChatRequest): ChatRequest {
  return {
    ...request,
    letGo() {
      Object.assign(this, { bodyText: '', bodyMembers: [], body: {} });
    },
  };
}

async function askWhole({ member, call, request, signal, watcher, silence }: Attempt): Promise<ChatCompletion> {
  const completion = await member.upstream.complete(request, signal, watcher, silence?.firstByteMs);
  call.succeeded();
  return completion;
}

/** As long as there is somebody else to ask, a stream has begun with its first chunk, not with its head. */
async function askStream({ member, call, request, signal, watcher, silence }: Attempt): Promise<ChatStream> {
  const stream = await member.upstream.stream(request, signal, watcher, silence?.firstByteMs);
  signal.addEventListener('abort', () => call.ended(), { once: true });
  const iterator = stream.chunks[Symbol.asyncIterator]();
  const first = silence === undefined ? undefined : await iterator.next();
  if (first !== undefined && member.breaker.isOpen) call.succeeded();
  return { chunks: readOn({ first, iterator, call }), tokens: () => stream.tokens() };
}

interface BegunStream {
  /** undefined: it is not read yet. */
  readonly first: IteratorResult<ChatChunk> | undefined;
  readonly iterator: AsyncIterator<ChatChunk>;
  readonly call: BreakerCall;
}

async function* readOn({ first, iterator, call }: BegunStream): AsyncGenerator<ChatChunk> {
  let isOver = false;
  try {
    for (let next = first ?? (await iterator.next()); next.done !== true; next = await iterator.next())
      yield next.value;
    isOver = true;
    call.succeeded();
  } catch (error) {
    isOver = true;
    judge(call, error);
    throw error;
  } finally {
    call.ended();
    if (!isOver) await iterator.return?.();
  }
}

function judge(call: BreakerCall, error: unknown): void {
  if (error instanceof UpstreamFault) call.failed(error.retryAfterMs);
  else call.ended();
}
