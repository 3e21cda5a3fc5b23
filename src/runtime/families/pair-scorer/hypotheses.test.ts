import { describe, expect, it } from 'vitest';
import type { Question } from '../../../domain/question.ts';
import { hypothesesOf } from './hypotheses.ts';

const choice = (...options: (readonly [string, string | null])[]): Question => ({
  type: 'choice',
  instructions: 'Which team?',
  options: options.map(([name, description]) => ({ name, description })),
});
const noul = (whenFalse: string | null, whenTrue: string | null): Question => ({
  type: 'noul',
  instructions: 'It is late.',
  whenFalse,
  whenTrue,
});

describe('hypotheses', () => {
  it('of a choice are one for each option, in the order of the request', () => {
    const question = choice(['billing', 'payments, refunds'], ['other', null], ['empty', '']);
    const hypothesis = 'The answer to "{instructions}" is: {option}';
    expect(hypothesesOf(question, { hypothesis })).toEqual([
      'The answer to "Which team?" is: billing: payments, refunds',
      'The answer to "Which team?" is: other',
      'The answer to "Which team?" is: empty',
    ]);
  });

  it('take the name where {description} has none', () => {
    const question = choice(['billing', 'payments'], ['other', null]);
    expect(hypothesesOf(question, { hypothesis: '{label} = {description}' })).toEqual([
      'billing = payments',
      'other = other',
    ]);
  });

  it('of a score are one for each level', () => {
    const question: Question = { type: 'score', instructions: 'How angry?', levels: ['calm', 'furious'] };
    const hypotheses = hypothesesOf(question, { hypothesis: '{instructions} {option} {label} {description}' });
    expect(hypotheses).toEqual(['How angry? calm calm calm', 'How angry? furious furious furious']);
  });

  it('keep braces, dollars and placeholders that a caller wrote', () => {
    const question = choice(['{instructions}', '{}'], ['{label}', '$1 $& {0}']);
    expect(hypothesesOf(question, { hypothesis: 'It is {option}{}.' })).toEqual([
      'It is {instructions}: {}{}.',
      'It is {label}: $1 $& {0}{}.',
    ]);
  });

  it.each([
    ['no criterion', noul(null, null), ['It is late.']],
    ['an empty criterion', noul('', ''), ['It is late.']],
    ['one of true', noul(null, 'It came after noon.'), ['It came after noon.']],
    ['one of false', noul('It came in time.', null), ['It came in time.', 'It is late.']],
    ['both', noul('It came in time.', 'It came after noon.'), ['It came in time.', 'It came after noon.']],
  ])('of a noul are statements as they stand: %s', (_, question, expected) => {
    expect(hypothesesOf(question, { hypothesis: 'This text is about {label}.' })).toEqual(expected);
  });
});
