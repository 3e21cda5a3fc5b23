import { expect, it } from 'vitest';
import { resolvePrompt } from './prompts.ts';

const prompts = { Classification: 'task: ', passage: 'p: ', search_query: 'q: ', STS: '' };

it.each([
  ['query', 'q: '],
  ['document', 'p: '],
  ['classification', 'task: '],
  ['clustering', ''],
] as const)('a text for %s gets the prompt that the model has for it', (inputType, text) => {
  expect(resolvePrompt({ inputType }, { id: 'mini', prompts, default_prompt: 'passage' })).toBe(text);
});

it('a prompt has its very name', () => {
  const model = { id: 'mini', prompts };
  expect(resolvePrompt({ name: 'STS' }, model)).toBe('');
  for (const name of ['sts', 'constructor', ''])
    expect(() => resolvePrompt({ name }, model)).toThrow('no prompt of this name');
});
