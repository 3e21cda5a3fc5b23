import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Question } from '../../domain/question.ts';
import type { DecideJob, EmbedJob, Job, RerankJob } from '../engine.ts';
import { digestOfJob } from './job-digest.ts';

const noul = (more: object = {}): Question => ({
  type: 'noul',
  instructions: 'Is it?',
  whenFalse: null,
  whenTrue: null,
  ...more,
});
const decision = (more: Partial<DecideJob> = {}): DecideJob => ({
  modelId: 'kev',
  state: 'a text',
  questions: [noul()],
  ...more,
});
const embedding = (more: Partial<EmbedJob> = {}): EmbedJob => ({
  modelId: 'mini',
  inputs: ['ab', 'c'],
  dimensions: undefined,
  encoding: 'float',
  ...more,
});
const reranking = (more: Partial<RerankJob> = {}): RerankJob => ({
  modelId: 'ranker',
  query: 'ab',
  documents: ['c', 'd'],
  truncate: false,
  ...more,
});
const choice = (...options: [name: string, description: string | null][]): Question => ({
  type: 'choice',
  instructions: 'Which?',
  options: options.map(([name, description]) => ({ name, description })),
});

const DIFFERENT: readonly [what: string, Job][] = [
  ['a decision', decision()],
  ['another model', decision({ modelId: 'kev2' })],
  ['another state', decision({ state: 'a texT' })],
  ['a lone surrogate', decision({ state: '\ud800' })],
  ['another lone surrogate', decision({ state: '\ud801' })],
  ['the replacement of both', decision({ state: '\ufffd' })],
  [
    'text moved from the state to the question',
    decision({ state: 'a tex', questions: [noul({ instructions: 'tIs it?' })] }),
  ],
  ['its vector, too', decision({ wantsVectors: true })],
  ['no description', decision({ questions: [noul({ whenTrue: '' })] })],
  ['a description', decision({ questions: [noul({ whenTrue: 'x' })] })],
  ['the other description', decision({ questions: [noul({ whenFalse: 'x' })] })],
  ['two questions', decision({ questions: [noul(), noul()] })],
  ['options', decision({ questions: [choice(['a', 'b'], ['c', null])] })],
  ['options in another order', decision({ questions: [choice(['c', null], ['a', 'b'])] })],
  ['text moved between options', decision({ questions: [choice(['a', 'bc'], ['', null])] })],
  ['levels', decision({ questions: [{ type: 'score', instructions: 'Which?', levels: ['a', 'b', 'c'] }] })],
  ['an embedding', embedding()],
  ['text moved between inputs', embedding({ inputs: ['a', 'bc'] })],
  ['ids', embedding({ inputs: [[1, 2]] })],
  ['ids as text', embedding({ inputs: ['1,2'] })],
  ['other ids', embedding({ inputs: [[12]] })],
  ['ids in two inputs', embedding({ inputs: [[1], [2]] })],
  ['dimensions', embedding({ dimensions: 4 })],
  ['base64', embedding({ encoding: 'base64' })],
  ['truncation', embedding({ truncate: true })],
  ['windows', embedding({ readsWindows: true })],
  ['a prompt', embedding({ prompt: { name: 'query' } })],
  ['another prompt', embedding({ prompt: { name: 'document' } })],
  ['no name of a prompt', embedding({ prompt: { name: '' } })],
  ['text moved from an input to the name of a prompt', embedding({ prompt: { name: 'a' }, inputs: ['b', 'c'] })],
  ['what it is for', embedding({ prompt: { inputType: 'query' } })],
  ['a reranking', reranking()],
  ['text moved from the query to a document', reranking({ query: 'a', documents: ['bc', 'd'] })],
  ['text moved between documents', reranking({ documents: ['cd', ''] })],
  ['documents in another order', reranking({ documents: ['d', 'c'] })],
  ['long documents that are cut', reranking({ truncate: true })],
];

describe('the digest of a job', () => {
  it('is another one for every difference', () => {
    const digests = DIFFERENT.map(([, job]) => digestOfJob(job, 'sha256:a'));
    expect(new Set(digests).size).toBe(DIFFERENT.length);
  });

  it('is another one for other weights', () => {
    expect(digestOfJob(decision(), 'sha256:a')).not.toBe(digestOfJob(decision(), 'sha256:b'));
  });

  it('is the same for the same job, and only then', () => {
    const text = fc.string({ unit: 'binary', maxLength: 4 });
    const question = fc.record({
      type: fc.constant('choice' as const),
      instructions: text,
      options: fc.array(fc.record({ name: text, description: fc.option(text) }), { minLength: 1, maxLength: 3 }),
    });
    const job = fc.record({
      modelId: text,
      state: text,
      questions: fc.array(question, { minLength: 1, maxLength: 3 }),
    });
    fc.assert(
      fc.property(job, job, (one, other) => {
        const isSame = JSON.stringify(one) === JSON.stringify(other);
        expect(digestOfJob(one, '') === digestOfJob(other, '')).toBe(isSame);
        expect(digestOfJob(structuredClone(one), '')).toBe(digestOfJob(one, ''));
      }),
      { numRuns: 500 },
    );
  });

  it('is not made of a job that is too long', () => {
    expect(digestOfJob(decision({ state: 'x'.repeat(262_144 - 6) }), '')).toBeDefined();
    expect(digestOfJob(decision({ state: 'x'.repeat(262_145 - 6) }), '')).toBeUndefined();
    expect(digestOfJob(embedding({ inputs: Array(2048).fill('x'.repeat(200)) }), '')).toBeUndefined();
  });
});
