import { describe, expect, it } from 'vitest';
import { estimateInputTokens, expectedTokens, measureMessage, type RequestBody } from './chat-estimate.ts';
import { measureText, toTokens } from './token-estimate.ts';
import type { ReasoningOptions } from './upstream-options.ts';

const TEXT = 'The invoice was sent twice last month.';
/** Hundredths of a token around each message, and for what is no text. */
const FRAME = 400;
const MEDIA = 100_000;

function inputOf(...messages: unknown[]): number {
  return estimateInputTokens({ messages });
}

describe('the estimate of a prompt', () => {
  const plain = toTokens(FRAME + measureText(TEXT));

  it('is that of its texts, with some tokens around each message', () => {
    expect(inputOf({ role: 'user', content: TEXT })).toBe(plain);
    expect(inputOf({ role: 'user', content: [{ type: 'text', text: TEXT }] })).toBe(plain);
    expect(inputOf({ role: 'user', content: TEXT }, { role: 'assistant', content: '' })).toBe(plain + 4);
  });

  it('does not count the bytes of an image, a sound or a file', () => {
    const data = `data:image/png;base64,${'A'.repeat(1_000_000)}`;
    const parts = [
      { type: 'image_url', image_url: { url: data } },
      { type: 'input_audio', input_audio: { data, format: 'wav' } },
      { type: 'file', file: { file_data: data } },
    ];
    expect(inputOf({ role: 'user', content: [{ type: 'text', text: TEXT }, ...parts] })).toBe(
      toTokens(FRAME + measureText(TEXT) + 3 * MEDIA),
    );
  });

  it('has calls of tools, their results, tools and schemas in it', () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'find', arguments: '{"id":1}' } };
    expect(inputOf({ role: 'assistant', content: null, tool_calls: [call] })).toBe(
      toTokens(FRAME + measureText('find{"id":1}')),
    );
    expect(inputOf({ role: 'tool', tool_call_id: 'call_1', content: TEXT })).toBe(plain);
    const tools = [{ type: 'function', function: { name: 'find', parameters: {} } }];
    expect(estimateInputTokens({ messages: [], tools })).toBe(toTokens(measureText(JSON.stringify(tools))));
  });

  it.each([undefined, null, 7, 'text', {}, [null, 7, 'text', [], { content: 7 }, { content: [null, 7, []] }]])(
    'takes no shape for granted: %j',
    (messages) => {
      expect(estimateInputTokens({ messages })).toBeLessThan(50);
    },
  );
});

describe('the estimate of an answer', () => {
  it('has text, reasoning, refusals and calls of tools in it', () => {
    const delta = {
      role: 'assistant',
      content: 'a',
      reasoning_content: 'b',
      refusal: 'c',
      tool_calls: [{ index: 0, function: { name: 'd', arguments: 'e' } }, null, { index: 1 }],
    };
    expect(measureMessage(delta)).toBe(measureText('abcde'));
  });

  it('counts reasoning once where it is told under two names', () => {
    expect(measureMessage({ reasoning_content: TEXT, reasoning: TEXT })).toBe(measureText(TEXT));
  });
});

describe('the output that is reserved', () => {
  const REASONING: ReasoningOptions = { usage: 'auto', allowanceTokens: 1000, capField: 'max_tokens' };

  it.each<[string, RequestBody, ReasoningOptions | undefined, number]>([
    ['what the model reserves, without a limit', {}, undefined, 4096],
    ['the same of a reasoning model', {}, REASONING, 4096],
    ['max_tokens', { max_tokens: 50 }, undefined, 50],
    ['max_tokens and the allowance', { max_tokens: 50 }, REASONING, 1050],
    ['max_completion_tokens, which has reasoning in it', { max_completion_tokens: 50 }, REASONING, 50],
    ['the smaller one of both', { max_tokens: 50, max_completion_tokens: 500 }, REASONING, 500],
    ['all of that for each choice', { max_tokens: 50, n: 3 }, REASONING, 3150],
    ['for each choice without a limit, too', { n: 2 }, undefined, 8192],
    ['no more than can be billed', { max_tokens: Number.MAX_SAFE_INTEGER, n: 1000 }, REASONING, 1_000_000_000],
    ['not what makes no sense', { max_tokens: -1, max_completion_tokens: '9', n: 0.5 }, undefined, 4096],
  ])('is %s', (_name, body, reasoning, expected) => {
    expect(expectedTokens(body, { reasoning, reserveOutputTokens: 4096 }).outputTokens).toBe(expected);
  });
});
