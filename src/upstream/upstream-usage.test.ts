import { describe, expect, it } from 'vitest';
import type { ReasoningUsage } from './upstream-options.ts';
import { readUsage } from './upstream-usage.ts';

interface Counts {
  readonly prompt: number;
  readonly completion: number;
  readonly total?: number;
  readonly reasoning?: number;
}

function usage({ prompt, completion, total, reasoning }: Counts): string {
  return JSON.stringify({
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: total,
    completion_tokens_details: reasoning === undefined ? undefined : { reasoning_tokens: reasoning, audio_tokens: 0 },
  });
}

/** `[output tokens, reasoning tokens]` */
function read(counts: Counts, habit?: ReasoningUsage): [number | undefined, number | undefined] {
  const counted = readUsage(usage(counts), habit)?.counted;
  return [counted?.outputTokens, counted?.reasoningTokens];
}

describe('usage of a reasoning model', () => {
  const included = { prompt: 10, completion: 50, total: 60, reasoning: 40 };
  const apart = { prompt: 10, completion: 10, total: 60, reasoning: 40 };

  it.each<[string, Counts, ReasoningUsage | undefined, [number, number]]>([
    ['included, told by the total', included, 'auto', [50, 40]],
    ['apart, told by the total', apart, 'auto', [50, 40]],
    ['apart, told by the total, of a model not marked as reasoning', apart, undefined, [50, 40]],
    ['apart, because they are more than the whole', { prompt: 1, completion: 10, reasoning: 40 }, 'auto', [50, 40]],
    ['included, when nothing tells otherwise', { prompt: 1, completion: 50, reasoning: 40 }, 'auto', [50, 40]],
    ['only in the total', { prompt: 10, completion: 10, total: 60 }, 'auto', [50, 40]],
    ['only in the total, configured', { prompt: 10, completion: 10, total: 60 }, 'apart', [50, 40]],
    ['not believed of a model without reasoning', { prompt: 10, completion: 10, total: 60 }, undefined, [10, 0]],
    ['zero, said out loud', { prompt: 10, completion: 10, total: 60, reasoning: 0 }, 'auto', [10, 0]],
    ['apart, as configured', { prompt: 1, completion: 50, reasoning: 40 }, 'apart', [90, 40]],
    ['included, as configured, and then no more than the whole', apart, 'included', [10, 10]],
    ['none at all', { prompt: 10, completion: 5, total: 15 }, 'auto', [5, 0]],
  ])('counts reasoning tokens: %s', (_name, counts, habit, expected) => {
    expect(read(counts, habit)).toEqual(expected);
  });

  it('is corrected in the JSON only where it must be, and keeps its details', () => {
    expect(readUsage(usage(included), 'auto')?.json).toBe(usage(included));
    expect(JSON.parse(readUsage(usage(apart), 'auto')?.json ?? '')).toEqual({
      prompt_tokens: 10,
      completion_tokens: 50,
      total_tokens: 60,
      completion_tokens_details: { reasoning_tokens: 40, audio_tokens: 0 },
    });
    expect(
      JSON.parse(readUsage('{"prompt_tokens":1,"completion_tokens":2,"total_tokens":9}', 'auto')?.json ?? ''),
    ).toEqual({
      prompt_tokens: 1,
      completion_tokens: 8,
      total_tokens: 9,
      completion_tokens_details: { reasoning_tokens: 6 },
    });
  });

  it('is read beside the details too', () => {
    const text = '{"prompt_tokens":1,"completion_tokens":2,"total_tokens":9,"reasoning_tokens":6}';
    expect(readUsage(text, 'auto')?.counted).toMatchObject({ outputTokens: 8, reasoningTokens: 6 });
  });
});

describe('usage', () => {
  it.each([
    ['{"prompt_tokens_details":{"cached_tokens":4},"prompt_tokens":9,"completion_tokens":0}', 4],
    ['{"prompt_cache_hit_tokens":4,"prompt_tokens":9,"completion_tokens":0}', 4],
    ['{"prompt_tokens":9,"completion_tokens":0}', 0],
    ['{"prompt_tokens_details":{"cached_tokens":10},"prompt_tokens":9,"completion_tokens":0}', 9],
    ['{"prompt_tokens_details":{"cached_tokens":1.5},"prompt_tokens":9.0,"completion_tokens":0}', 0],
  ])('tells cached tokens: %s', (text, cachedTokens) => {
    expect(readUsage(text, undefined)?.counted).toEqual({
      inputTokens: 9,
      outputTokens: 0,
      reasoningTokens: 0,
      cachedTokens,
    });
  });

  it.each([
    'null',
    '[]',
    '7',
    '{}',
    '{"prompt_tokens":1}',
    '{"prompt_tokens":1,"completion_tokens":-1}',
    '{"prompt_tokens":1,"completion_tokens":1.5}',
    '{"prompt_tokens":"1","completion_tokens":1}',
    '{"prompt_tokens":1,"completion_tokens":1e300}',
    '{"prompt_tokens":1,"completion_tokens":1000000001}',
    '{"prompt_tokens":1000000001,"completion_tokens":1}',
    '{"prompt_tokens":1,"completion_tokens":1,"reasoning_tokens":1000000000}',
  ])('is unknown when it is %s', (text) => {
    expect(readUsage(text, 'auto')).toBeUndefined();
  });
});
