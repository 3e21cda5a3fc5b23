// How the comparison asks its peers, reads their replies, and tells one answer from another.

import { describe, expect, it } from 'vitest';
import { listAnswerCases } from '../../../bench/answers/answer-cases.ts';
import { differenceOf, readAnswer, smallestCosine } from '../../../bench/answers/answers.ts';
import { type DecisionBody, type Job, requestFor } from '../../../bench/load/workload.ts';

const questions: DecisionBody['questions'] = {
  team: { type: 'choice', instructions: 'Which team?', criteria: { billing: 'money', technical: null } },
  mood: { type: 'score', instructions: 'How upset?', criteria: ['calm', 'angry'] },
  urgent: { type: 'noul', instructions: 'Today?' },
};
const decision: Job = { task: 'decision', body: { model: 'kev', state: 'Charged twice.', questions } };
const embedding: Job = { task: 'embedding', inputs: ['one', 'another'] };

const answers = {
  urgent: { type: 'noul', noul: 0.75 },
  mood: { type: 'score', score: 0.4, probabilities: { '1': 0.4, '0': 0.6 } },
  team: { type: 'choice', choice: 'technical', probabilities: { technical: 0.9, billing: 0.1 } },
};

function toBase64(values: readonly number[]): string {
  return Buffer.from(new Float32Array(values).buffer).toString('base64');
}

function embeddingReply(vectors: readonly (readonly number[])[]): string {
  const data = vectors.map((vector, index) => ({ index, embedding: toBase64(vector) }));
  return JSON.stringify({ data: data.toReversed() });
}

describe('requests', () => {
  it('of a decision are its body', () => {
    const { path, body } = requestFor(decision);
    expect(path).toBe('/ai/v1/systemone');
    expect(JSON.parse(body)).toEqual({ model: 'kev', state: 'Charged twice.', questions });
  });

  it('of an embedding ask for base64', () => {
    const { path, body } = requestFor(embedding);
    expect(path).toBe('/ai/v1/embeddings');
    expect(JSON.parse(body)).toMatchObject({ input: ['one', 'another'], encoding_format: 'base64' });
  });
});

describe('replies', () => {
  it('of a decision come in the order of the request, whatever that of the reply', () => {
    const answer = readAnswer(decision, JSON.stringify({ answers }));
    expect(answer).toEqual({
      task: 'decision',
      probabilities: [
        [0.1, 0.9],
        [0.6, 0.4],
        [0.25, 0.75],
      ],
    });
  });

  it('that miss a question are refused', () => {
    const { urgent, ...others } = answers;
    expect(() => readAnswer(decision, JSON.stringify({ answers: others }))).toThrow('urgent has no noul');
    const wrong = { ...others, urgent: { type: 'choice', choice: 'yes', probabilities: { yes: urgent.noul } } };
    expect(() => readAnswer(decision, JSON.stringify({ answers: wrong }))).toThrow('urgent has no noul');
  });

  it('of embeddings come in the order of the inputs', () => {
    const answer = readAnswer(
      embedding,
      embeddingReply([
        [1, 0],
        [0, 1],
      ]),
    );
    expect(answer).toEqual({ task: 'embedding', vectors: [new Float32Array([1, 0]), new Float32Array([0, 1])] });
  });

  it('with too few vectors are refused', () => {
    expect(() => readAnswer(embedding, embeddingReply([[1, 0]]))).toThrow('1 vectors for 2 inputs');
  });
});

describe('the difference of decisions', () => {
  const of = (...probabilities: number[][]) => ({ task: 'decision', probabilities }) as const;

  it('is the largest of any probability', () => {
    expect(differenceOf(of([0.5, 0.5], [0.25, 0.75]), of([0.5, 0.5], [0.5, 0.5]))).toBe(0.25);
  });

  it('is NaN where something is missing', () => {
    expect(differenceOf(of([0.5, 0.5], [1]), of([0.5, 0.5]))).toBeNaN();
    expect(differenceOf(of([0.5, 0.5]), of([0.5]))).toBeNaN();
  });
});

describe('the smallest cosine', () => {
  const of = (...vectors: number[][]) => {
    return { task: 'embedding', vectors: vectors.map((vector) => new Float32Array(vector)) } as const;
  };

  it('does not depend on length', () => {
    expect(smallestCosine(of([1, 0], [1, 1]), of([2, 0], [3, 3]))).toBeCloseTo(1, 12);
    expect(smallestCosine(of([1, 0], [1, 1]), of([2, 0], [3, 0]))).toBeCloseTo(Math.SQRT1_2, 7);
  });

  it('is NaN for vectors of another size, or none', () => {
    expect(smallestCosine(of([1, 0]), of([1, 0, 0]))).toBeNaN();
    expect(smallestCosine(of([1, 0], [1, 0]), of([1, 0]))).toBeNaN();
  });
});

describe('the cases that are compared', () => {
  it('hold all types, one option and 255, nothing and 4,000 words', async () => {
    const bodies = (await listAnswerCases()).flatMap((job) => (job.task === 'decision' ? [job.body] : []));
    const asked = bodies.flatMap(({ questions: found }) => Object.values(found));
    expect(new Set(asked.map(({ type }) => type))).toEqual(new Set(['choice', 'score', 'noul']));
    const counts = asked.flatMap((question) =>
      question.type === 'choice' ? [Object.keys(question.criteria).length] : [],
    );
    expect([Math.min(...counts), Math.max(...counts)]).toEqual([1, 255]);
    const words = bodies.map(({ state }) => state.split(' ').filter(Boolean).length);
    expect([Math.min(...words), Math.max(...words)]).toEqual([0, 4000]);
  });

  it('embed single texts and a batch', async () => {
    const sizes = (await listAnswerCases()).flatMap((job) => (job.task === 'embedding' ? [job.inputs.length] : []));
    expect([Math.min(...sizes), Math.max(...sizes)]).toEqual([1, 32]);
  });
});
