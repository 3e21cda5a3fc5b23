import { describe, expect, it } from 'vitest';
import { AppError } from '../domain/errors.ts';
import { listMembers } from './json-text.ts';
import { refuseDuplicates, upstreamBody } from './upstream-body.ts';
import type { ReasoningOptions } from './upstream-options.ts';

const REASONING: ReasoningOptions = { usage: 'auto', allowanceTokens: 1000, capField: 'max_tokens' };

function rewrite(
  bodyText: string,
  options: { reasoning?: ReasoningOptions; takesStreamOptions?: boolean } = {},
): string {
  const { stream = false } = JSON.parse(bodyText) as { stream?: boolean };
  const request = {
    modelId: 'ours',
    format: 'chat' as const,
    stream,
    includeUsage: false,
    bodyText,
    body: JSON.parse(bodyText),
  };
  const { reasoning, takesStreamOptions = true } = options;
  return upstreamBody(request, { upstreamModel: 'theirs', reasoning, takesStreamOptions });
}

describe('the body an upstream is sent', () => {
  it('differs in the model alone', () => {
    expect(rewrite('{"model":"ours","messages":[],"max_tokens":5,"stream_options":{"a":1}}')).toBe(
      '{"model":"theirs","messages":[],"max_tokens":5,"stream_options":{"a":1}}',
    );
  });

  it.each([
    ['', ',"stream_options":{"include_usage":true}'],
    [',"stream_options":null', ',"stream_options":{"include_usage":true}'],
    [',"stream_options":{"include_usage":false,"x":1.0}', ',"stream_options":{"include_usage":true,"x":1.0}'],
  ])('asks for usage while streaming, given %s', (given, sent) => {
    expect(rewrite(`{"model":"ours","stream":true${given}}`)).toBe(`{"model":"theirs","stream":true${sent}}`);
  });

  it('has no stream options for an upstream that refuses them', () => {
    const text = '{"model":"ours","stream":true,"stream_options":{"include_usage":true}}';
    expect(rewrite(text, { takesStreamOptions: false })).toBe('{"model":"theirs","stream":true}');
  });

  it.each([
    ['"max_tokens":100', '"max_tokens":1100'],
    ['"max_tokens":1e2', '"max_tokens":1100'],
    ['"max_completion_tokens":100', '"max_completion_tokens":100'],
    ['"max_tokens":"many"', '"max_tokens":"many"'],
    ['"max_tokens":-1', '"max_tokens":-1'],
    ['"max_tokens":0.5', '"max_tokens":0.5'],
    ['"max_tokens":null', '"max_tokens":null'],
  ])('gives reasoning its allowance on top of max_tokens: %s', (given, sent) => {
    expect(rewrite(`{"model":"ours",${given}}`, { reasoning: REASONING })).toBe(`{"model":"theirs",${sent}}`);
  });

  it.each([
    ['"max_tokens":100', '"max_completion_tokens":1100'],
    ['"max_tokens":100,"max_completion_tokens":500', '"max_completion_tokens":500'],
    ['"max_tokens":100,"max_completion_tokens":5000', '"max_completion_tokens":1100'],
    ['"max_completion_tokens":100', '"max_completion_tokens":100'],
  ])('puts it where the upstream wants it: %s', (given, sent) => {
    const reasoning: ReasoningOptions = { ...REASONING, capField: 'max_completion_tokens' };
    expect(rewrite(`{"model":"ours",${given}}`, { reasoning })).toBe(`{"model":"theirs",${sent}}`);
  });

  it.each(['model', 'messages', 'stream', 'stream_options', 'max_tokens', 'max_completion_tokens', 'n'])(
    'is refused when %s is there twice, which could mean two things',
    (name) => {
      const refused = () => refuseDuplicates(listMembers(`{"${name}":null,"x":1,"${name}":null}`), [name]);
      expect(refused).toThrow(AppError);
      expect(refused).toThrow(`The field '${name}' is there more than once.`);
    },
  );
});
