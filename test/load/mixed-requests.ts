// Requests as many callers mix them, seeded: decisions and embeddings of many lengths, and what a server must refuse.

import { makeDecision, makeDocument, makeRandom } from '../../bench/load/workload.ts';

export interface MixedRequest {
  readonly path: '/ai/v1/systemone' | '/ai/v1/embeddings';
  readonly body: string;
  /** Statuses that are right for it. */
  readonly expected: readonly number[];
}

/** Cumulative shares. */
export type Recipe = readonly (readonly [share: number, make: (random: () => number) => MixedRequest])[];

/** 503: the server may always say that it is full. */
const SERVED = [200, 503];
const REFUSED = [400, 404, 503];

export function decisionOf(least: number, most: number) {
  return (random: () => number): MixedRequest => {
    const stateTokens = least + Math.floor((most - least + 1) * random() ** 3);
    const questions = 1 + Math.floor(3 * random() ** 3);
    return {
      path: '/ai/v1/systemone',
      body: JSON.stringify(makeDecision({ stateTokens, questions }, random)),
      expected: SERVED,
    };
  };
}

export function embeddingOf(mostInputs: number, mostTokens: number) {
  return (random: () => number): MixedRequest => {
    const count = 1 + Math.floor(mostInputs * random() ** 2);
    const input = Array.from({ length: count }, () => makeDocument(1 + Math.floor(mostTokens * random()), random));
    const body = JSON.stringify({ model: 'text-embed-mini', input, encoding_format: 'base64' });
    return { path: '/ai/v1/embeddings', body, expected: SERVED };
  };
}

/** The same few texts again and again. */
export function repeated(random: () => number): MixedRequest {
  const again = makeRandom(Math.floor(random() * 20));
  return {
    path: '/ai/v1/systemone',
    body: JSON.stringify(makeDecision({ stateTokens: 30, questions: 1 }, again)),
    expected: SERVED,
  };
}

const FAULTS: readonly Omit<MixedRequest, 'expected'>[] = [
  { path: '/ai/v1/systemone', body: '{"model": "kev", "state": ' },
  { path: '/ai/v1/systemone', body: '[]' },
  { path: '/ai/v1/systemone', body: '{"model": "kev", "state": "x", "questions": {}}' },
  {
    path: '/ai/v1/systemone',
    body: '{"model": "nobody", "state": "x", "questions": {"a": {"type": "noul", "instructions": "?"}}}',
  },
  { path: '/ai/v1/embeddings', body: '{"model": "kev", "input": "x"}' },
  { path: '/ai/v1/embeddings', body: '{"model": "text-embed-mini", "input": []}' },
  { path: '/ai/v1/embeddings', body: `{"model": "text-embed-mini", "input": "${'word '.repeat(400)}"}` },
];

/** Broken JSON, missing fields, strangers, texts that are too long. */
export function faulty(random: () => number): MixedRequest {
  const fault = FAULTS[Math.floor(random() * FAULTS.length)] ?? { path: '/ai/v1/systemone', body: '' };
  return { ...fault, expected: REFUSED };
}

/** @returns the same requests in the same order for a seed */
export function mixRequests(recipe: Recipe, seed: number): () => MixedRequest {
  const random = makeRandom(seed);
  return () => {
    const drawn = random();
    const found = recipe.find(([share]) => drawn < share) ?? recipe.at(-1);
    if (found === undefined) throw new RangeError('a recipe without requests');
    return found[1](random);
  };
}
