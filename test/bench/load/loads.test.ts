// Classes of requests have the lengths and counts they say, and all servers get the same texts.

import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type LoadClass, Loads, seedOf, streamOf } from '../../../bench/load/loads.ts';
import { requestFor, type Work } from '../../../bench/load/workload.ts';
import { ROOT } from '../../../bench/machine/machine.ts';
import { openTokenizer } from '../../../src/runtime/tokenizer/open-tokenizer.ts';
import type { Tokenizer } from '../../../src/runtime/tokenizer/tokenizer.ts';

let tokenizer: Tokenizer;
let loads: Loads;

beforeAll(async () => {
  tokenizer = await openTokenizer(join(ROOT, 'models', 'kev'));
  loads = new Loads((text) => tokenizer.encode(text).length);
});

function take(load: LoadClass, count: number, seed = 1): Work[] {
  const next = streamOf(load, seed);
  return Array.from({ length: count }, next);
}

function textsOf({ job }: Work): readonly string[] {
  return job.task === 'decision' ? [job.body.state] : job.inputs;
}

describe('a stream', () => {
  it('is the same for the same seed and never repeats a text', () => {
    for (const load of [...loads.decisions, ...loads.embeddings]) {
      expect(take(load, 20)).toEqual(take(load, 20));
      const texts = [...take(load, 20), ...take(load, 20, 2)].flatMap(textsOf).filter((text) => text.length > 100);
      expect(new Set(texts).size).toBe(texts.length);
    }
  });

  it('has a seed of its own for every slice', () => {
    const seeds = ['short', 'mix'].flatMap((id) => [1, 8, 64].flatMap((n) => [0, 1, 2].map((r) => seedOf(id, n, r))));
    expect(new Set(seeds).size).toBe(seeds.length);
  });
});

describe('classes', () => {
  it('are as long as they say', () => {
    const ids = (load: LoadClass): number[] =>
      take(load, 5).map((work) => tokenizer.encode(textsOf(work)[0] ?? '').length);
    expect(ids(loads.short)).toEqual(Array.from({ length: 5 }, () => 128));
    expect(ids(loads.medium)).toEqual(Array.from({ length: 5 }, () => 512));
  });

  it('of 2 options keep to 240 branch tokens in all', () => {
    const [pair] = loads.documents;
    const { job } = take(pair as LoadClass, 1)[0] as Work;
    if (job.task !== 'decision') throw new Error('no decision');
    const branches = Object.values(job.body.questions).map((question) => {
      if (question.type !== 'choice') throw new Error('no choice');
      const options = Object.entries(question.criteria).map(([name, text]) => `${name}: ${text}`);
      expect(options).toHaveLength(2);
      const count = (text: string): number => tokenizer.encode(text).length;
      return count(question.instructions) + 2 + options.reduce((total, option) => total + count(option) + 1, 0);
    });
    expect(branches).toHaveLength(8);
    expect(branches.reduce((total, branch) => total + branch, 0)).toBeLessThanOrEqual(240);
  });

  it('of a mix have the shares they say', () => {
    const works = take(loads.mix, 2000).map(({ job }) => (job.task === 'decision' ? job.body : undefined));
    const counts = works.map((body) => Object.keys(body?.questions ?? {}).length);
    const share = (count: number): number => counts.filter((other) => other === count).length / counts.length;
    expect([1, 2, 4, 8].map((count) => Math.round(share(count) * 20) / 20)).toEqual([0.6, 0.2, 0.15, 0.05]);
    const lengths = works.map((body) => body?.state.split(' ').length ?? 0);
    expect(Math.min(...lengths)).toBeGreaterThanOrEqual(32);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(2048);
    expect(lengths.filter((length) => length <= 256).length / lengths.length).toBeCloseTo(0.5, 1);
  });

  it('of embeddings fit the model', () => {
    const inputs = take(loads.embeddings[2] as LoadClass, 10).flatMap(textsOf);
    const lengths = inputs.map((text) => tokenizer.encode(text).length);
    expect(inputs).toHaveLength(640);
    expect(Math.min(...lengths)).toBe(8);
    expect(Math.max(...lengths)).toBe(254);
  });
});

describe('the grid', () => {
  it('has every length with every number of questions, and embeddings', () => {
    const names = loads.grid(false).map(({ id }) => id);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => name.startsWith('decide'))).toHaveLength(9);
    expect(names.filter((name) => name.startsWith('embed'))).toHaveLength(3);
  });

  it('is sent as JSON', () => {
    for (const load of loads.grid(false))
      for (const { job } of take(load, 1)) expect(JSON.parse(requestFor(job).body)).toHaveProperty('model');
  });
});

describe('tokens', () => {
  it('are those of texts, questions and options, each once', () => {
    const { job, tokens } = take(loads.short, 1)[0] as Work;
    if (job.task !== 'decision') throw new Error('no decision');
    const questions = Object.values(job.body.questions).flatMap((question) => [
      question.instructions,
      ...(question.type === 'choice'
        ? Object.entries(question.criteria).map(([name, text]) => `${name}: ${text}`)
        : []),
    ]);
    const all = [job.body.state, ...questions].reduce((total, text) => total + tokenizer.encode(text).length, 0);
    expect(tokens).toBe(all);
  });
});
