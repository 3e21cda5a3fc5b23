// One stream that a client asks for: what the upstream will say, how and when the client will leave, and what all of that
// may cost, worked out from the words of docs/guides/chat.md rather than from the server's code.

import type { LeavingPolicy } from '../../src/upstream/chat-upstream.ts';
import type { RandomSource } from '../models/random-source.ts';

/** Model ids are those of the policies. */
export const POLICIES: readonly LeavingPolicy[] = ['estimate', 'drain', 'free'];
/** Micro-dollars per million tokens, which are pico-dollars per token: odd, so that no sum is right by chance. */
export const PRICE = { input: 150_001, cached: 37_003, output: 600_011 };

/** Each text chunk says this: 5 letters at 0.22 and a space at 0.08 tokens. */
export const WORD = 'words ';
const HUNDREDTHS_OF_WORD = 5 * 22 + 8;
/** What a message adds to its text. */
const HUNDREDTHS_OF_FRAME = 400;
const PROMPT_WORDS = 40;

/**
 * What usage the upstream tells: none, zero at the end, numbers at the end, once after the first text, with each text
 * the numbers so far, or numbers that nobody can believe.
 */
const USAGE_HABITS = ['none', 'zero', 'end', 'early', 'running', 'absurd'] as const;

export interface UpstreamPlan {
  readonly id: string;
  readonly headMs: number;
  /** Pause after each burst of texts. */
  readonly pauseMs: number;
  readonly burst: number;
  readonly texts: number;
  readonly usage: (typeof USAGE_HABITS)[number];
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
  /** The connection is broken after so many texts. */
  readonly breaksAfter: number | null;
}

/** After so many ms, when the head has come, when so many texts have come. */
export type Cut =
  | { readonly at: 'time'; readonly afterMs: number }
  | { readonly at: 'head' }
  | { readonly at: 'text'; readonly after: number };

export interface StreamOrder {
  readonly policy: LeavingPolicy;
  readonly keyIndex: number;
  readonly idempotencyKey: string | undefined;
  readonly plan: UpstreamPlan;
  readonly cut: Cut | undefined;
}

export interface Tokens {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

/** Request id of a retry, which is the same request otherwise. */
export function retryIdOf({ plan }: StreamOrder): string {
  return `${plan.id}-again`;
}

export const PROMPT = Array(PROMPT_WORDS).fill(WORD).join('');
export const PROMPT_ESTIMATE = Math.ceil((HUNDREDTHS_OF_FRAME + PROMPT_WORDS * HUNDREDTHS_OF_WORD) / 100);

export function estimateOfTexts(texts: number): number {
  return Math.ceil((texts * HUNDREDTHS_OF_WORD) / 100);
}

export function costOf({ input, cached, output }: Tokens): bigint {
  return BigInt((input - cached) * PRICE.input + cached * PRICE.cached) + BigInt(output * PRICE.output);
}

/** @returns undefined where nothing is told that can be believed. @param texts how many the upstream has said */
export function toldAfter({ usage, ...plan }: UpstreamPlan, texts: number, isOver: boolean): Tokens | undefined {
  const numbers = { input: plan.promptTokens, cached: plan.cachedTokens, output: plan.completionTokens };
  if (usage === 'end') return isOver ? numbers : undefined;
  if (usage === 'zero') return isOver ? { input: 0, cached: 0, output: 0 } : undefined;
  if (usage === 'early') return texts > 0 ? numbers : undefined;
  if (usage === 'running') return texts > 0 ? { ...numbers, output: texts } : undefined;
  return undefined;
}

/** What a whole answer costs. */
export function billOfWhole(plan: UpstreamPlan): { readonly tokens: Tokens; readonly isEstimated: boolean } {
  const told = toldAfter(plan, plan.texts, true);
  if (told !== undefined) return { tokens: told, isEstimated: false };
  const tokens = { input: PROMPT_ESTIMATE, cached: 0, output: estimateOfTexts(plan.texts) };
  return { tokens, isEstimated: true };
}

const CUT_SHARE = 1 / 3;
const BREAK_SHARE = 0.03;
const IDEMPOTENT_SHARE = 0.1;
const MAX_TEXTS = 60;
/** Long beside what a text takes on its way: most clients that leave then leave in the middle. */
const MAX_PAUSE_MS = 20;

export function makeOrder(id: string, random: RandomSource, keys: number): StreamOrder {
  const texts = random.whole(1, MAX_TEXTS);
  const promptTokens = random.whole(1, 500);
  const plan: UpstreamPlan = {
    id,
    headMs: random.chance(0.5) ? 0 : random.whole(1, 20),
    pauseMs: random.whole(0, MAX_PAUSE_MS),
    burst: random.whole(1, 3),
    texts,
    usage: random.pick(USAGE_HABITS),
    promptTokens,
    cachedTokens: random.chance(0.5) ? 0 : random.whole(0, promptTokens),
    completionTokens: random.whole(0, 300),
    breaksAfter: random.chance(BREAK_SHARE) ? random.whole(0, texts) : null,
  };
  return {
    policy: random.pick(POLICIES),
    keyIndex: random.whole(0, keys - 1),
    idempotencyKey: random.chance(IDEMPOTENT_SHARE) ? `order-${id}` : undefined,
    plan,
    cut: random.chance(CUT_SHARE) ? makeCut(random, texts) : undefined,
  };
}

function makeCut(random: RandomSource, texts: number): Cut {
  const at = random.pick(['time', 'head', 'text', 'text', 'end'] as const);
  if (at === 'time') return { at, afterMs: random.whole(0, 100) };
  if (at === 'head') return { at };
  return { at: 'text', after: at === 'end' ? texts : random.whole(1, texts) };
}
