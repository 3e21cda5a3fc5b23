// Models of entailment and rerankers of other people's architectures, run by real workers: the numbers of Python's own
// libraries over the same weights, the same to the bit however they are asked, and refusals where a text would be cut.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Question } from '../../src/domain/question.ts';
import { relevanceOf } from '../../src/domain/relevance.ts';
import { hypothesesOf } from '../../src/runtime/families/pair-scorer/hypotheses.ts';
import { entailmentProbabilities } from '../../src/runtime/families/pair-scorer/pair-readout.ts';
import type { TimedCase } from '../../src/runtime/load-report.ts';
import type { PairItem, ScorePairsReply } from '../../src/runtime/messages.ts';
import { type DecisionCase, toQuestion } from '../../src/runtime/model-folder/golden.ts';
import type { EntailmentManifest } from '../../src/runtime/model-folder/manifest.ts';
import { readModelFolder } from '../../src/runtime/model-folder/model-folder.ts';
import { openTokenCounter } from '../../src/runtime/token-counter.ts';
import { ANSWERS, ForeignModels, layModel } from './foreign-models.ts';

const ENTAILMENT = Object.entries(ANSWERS.entailment);
const RERANKERS = Object.entries(ANSWERS.rerankers);
const ORDERS = ANSWERS.orders.map(({ labels, cases }, place) => ({ id: `deberta-order-${place}`, labels, cases }));
const POISONED = 'poisoned-reranker';

let models: ForeignModels;
let folder: string;
const manifests = new Map<string, EntailmentManifest>();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'umpire-pairs-'));
  models = await ForeignModels.load(
    [
      ...[...ENTAILMENT, ...RERANKERS].map(([fixture]) => ({ fixture })),
      ...ORDERS.map(({ id, labels, cases }) => ({ fixture: 'deberta-nli', id, manifest: { labels }, cases })),
      { fixture: 'bert-reranker', id: POISONED, poison: ANSWERS.rerankers['bert-reranker'].poison },
    ],
    2,
  );
  for (const [name] of ENTAILMENT) {
    const { manifest } = await readModelFolder(layModel(folder, { fixture: name }));
    manifests.set(name, manifest as EntailmentManifest);
  }
  for (const { id, labels } of ORDERS) manifests.set(id, { ...manifestOf('deberta-nli'), id, labels });
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await models.close();
});

function manifestOf(id: string): EntailmentManifest {
  const manifest = manifests.get(id);
  if (manifest === undefined) throw new Error(`no manifest of ${id}`);
  return manifest;
}

function score(
  modelId: string,
  first: string,
  pairs: readonly PairItem[],
  { truncate = false, worker = 0 }: { truncate?: boolean; worker?: number } = {},
): Promise<ScorePairsReply> {
  return models.pool.run({ kind: 'score-pairs', modelId, first, pairs, truncate }, worker);
}

const toPairs = (texts: readonly string[]): PairItem[] => texts.map((second, place) => ({ place, second }));

async function decide(modelId: string, state: string, questions: readonly Question[]) {
  const manifest = manifestOf(modelId);
  const pairs = questions.flatMap((question, place) =>
    hypothesesOf(question, manifest).map((second) => ({ place, second })),
  );
  const { logits, inputTokens } = await score(modelId, state, pairs);
  const probabilities = questions.map((question, place) => {
    const own = logits.filter((_, pair) => pairs[pair]?.place === place);
    return entailmentProbabilities(question, own, manifest);
  });
  const counted = await models.pool.run({ kind: 'count-pairs', modelId, first: state, pairs, truncate: false }, 0);
  return { probabilities, inputTokens, counted: counted.inputTokens };
}

async function expectReference(modelId: string, cases: readonly DecisionCase[]): Promise<void> {
  for (const { state, questions, input_tokens: tokens, probabilities } of cases) {
    const answered = await decide(modelId, state, questions.map(toQuestion));
    expect([answered.inputTokens, answered.counted]).toEqual([tokens, tokens]);
    expectClose(answered.probabilities.flat(), probabilities['fp32']?.flat() ?? []);
  }
}

function expectClose(actual: readonly number[], expected: readonly number[]): void {
  expect(actual).toHaveLength(expected.length);
  const farthest = actual.reduce((most, value, place) => Math.max(most, Math.abs(value - (expected[place] ?? 9))), 0);
  expect(farthest).toBeLessThanOrEqual(1e-5);
}

describe('a model of entailment', () => {
  it.each(ENTAILMENT)('answers and counts as the reference does: %s', async (name, { cases }) => {
    await expectReference(name, cases);
  });

  it.each(ORDERS)('reads labels wherever they are: $labels', async ({ id, cases }) => {
    await expectReference(id, cases);
  });

  it('gives its options the same bits in whatever order they come', async () => {
    const names = ['late', 'a refund', '{option}', 'billing: payments', 'x', '日本語', 'late '];
    const order = [4, 2, 6, 0, 5, 3, 1];
    const ask = async (places: readonly number[]) => {
      const options = places.map((place) => ({ name: names[place] ?? '', description: null }));
      const question = { type: 'choice', instructions: 'Which?', options } as const;
      const { probabilities } = await decide('deberta-nli', 'The parcel is late.', [question]);
      return probabilities[0] ?? [];
    };
    const straight = await ask(names.map((_, place) => place));
    expect(new Set(straight).size).toBe(names.length);
    expect(await ask(order)).toEqual(order.map((place) => straight[place]));
  });

  it('refuses a state that has no room beside what is asked, and says how long it is', async () => {
    await expect(score('modernbert-nli', 'a '.repeat(300), toPairs(['x']))).rejects.toMatchObject({
      code: 'context_length_exceeded',
      param: 'state',
      message: expect.stringMatching(
        /^The state has \d{3} tokens; modernbert-nli takes at most 189, with what is asked/,
      ),
    });
  });

  it('refuses a pair that is too long together, by the place of its question', async () => {
    const pairs = [
      { place: 4, second: 'x' },
      { place: 5, second: 'b '.repeat(100) },
    ];
    await expect(score('modernbert-nli', 'a '.repeat(100), pairs)).rejects.toMatchObject({
      code: 'context_length_exceeded',
      param: 'questions[5]',
      message: expect.stringMatching(
        /^The state and an option of questions\[5\] have \d{3} tokens together; modernbert-nli takes at most 189\.$/,
      ),
    });
  });
});

describe('a reranker', () => {
  it.each(RERANKERS)('scores and counts as the reference does: %s', async (name, { cases }) => {
    for (const { query, documents, input_tokens: tokens, scores } of cases) {
      const pairs = toPairs(documents);
      const { logits, inputTokens, truncated } = await score(name, query, pairs);
      const task = { kind: 'count-pairs', modelId: name, first: query, pairs, truncate: false } as const;
      expect([inputTokens, await models.pool.run(task, 1), truncated]).toEqual([tokens, { inputTokens: tokens }, []]);
      expectClose(
        logits.map(([logit = Number.NaN]) => relevanceOf(logit)),
        scores['fp32'] ?? [],
      );
    }
  });

  it('gives a document the same bits alone, beside others, in any order and on any worker', async () => {
    const documents = ['late', 'The parcel is late and nobody knows where it is.', '', 'x', 'an invoice '.repeat(20)];
    const query = 'where is the parcel?';
    const [together, reversed, elsewhere] = await Promise.all([
      score('bert-reranker', query, toPairs(documents)),
      score('bert-reranker', query, toPairs(documents.toReversed())),
      score('bert-reranker', query, toPairs(documents), { worker: 1 }),
    ]);
    const alone: Float32Array[] = [];
    for (const document of documents) alone.push(...(await score('bert-reranker', query, toPairs([document]))).logits);
    expect(new Set(alone.map(String)).size).toBe(documents.length);
    expect(together.logits).toEqual(alone);
    expect(reversed.logits.toReversed()).toEqual(alone);
    expect(elsewhere.logits).toEqual(alone);
  });

  it('refuses a document that is too long beside the query', async () => {
    const documents = toPairs(['late', 'a '.repeat(300)]);
    await expect(score('bert-reranker', 'where?', documents)).rejects.toMatchObject({
      code: 'context_length_exceeded',
      param: 'documents[1]',
      message: expect.stringMatching(
        /^query and documents\[1\] have \d{3} tokens together; bert-reranker takes at most 189\. "truncate": true/,
      ),
    });
  });

  it('cuts documents on demand, says which, and reads the rest as if it had come so', async () => {
    const query = 'where?';
    const long = 'a '.repeat(300);
    const [queryTokens, wordTokens] = await Promise.all(
      [query, 'a'].map(async (text) => {
        const { inputTokens } = await score('bert-reranker', '', toPairs([text]));
        return inputTokens;
      }),
    );
    expect(wordTokens).toBe(1);
    const fitting = 'a '.repeat(189 - (queryTokens ?? 0));
    const { logits, inputTokens, truncated } = await score('bert-reranker', query, toPairs(['a', long, fitting]), {
      truncate: true,
    });
    expect(truncated).toEqual([1]);
    expect(logits[1]).toEqual(logits[2]);
    expect(inputTokens).toBe(2 * 189 + (queryTokens ?? 0) + 1);
  });

  it('never cuts the query', async () => {
    await expect(score('bert-reranker', 'a '.repeat(190), toPairs(['late']), { truncate: true })).rejects.toMatchObject(
      { code: 'context_length_exceeded', param: 'query' },
    );
    // All of the room: nothing of the document would be read.
    await expect(score('bert-reranker', 'a '.repeat(189), toPairs(['late']), { truncate: true })).rejects.toMatchObject(
      { code: 'context_length_exceeded', param: 'documents[0]' },
    );
  });

  it('never reads the name of a special token as one', async () => {
    const [typed, spelt] = await Promise.all(
      ['[SEP]', '[ SEP ]'].map((text) => score('bert-reranker', 'late', toPairs([text]))),
    );
    expect(typed?.logits).toEqual(spelt?.logits);
  });

  it('fails where its graph gives no number, and answers the next one', async () => {
    const { text } = ANSWERS.rerankers['bert-reranker'].poison;
    await expect(score(POISONED, 'late', toPairs(['late', text]))).rejects.toMatchObject({ code: 'internal_error' });
    const [sound, whole] = await Promise.all(
      [POISONED, 'bert-reranker'].map((name) => score(name, 'late', toPairs(['late']))),
    );
    expect(sound?.logits).toEqual(whole?.logits);
  });

  it('counts on the main thread as its workers do, where the tokenizer is quick', async () => {
    const counter = await openTokenCounter(await readModelFolder(layModel(folder, { fixture: 'bert-reranker' })));
    for (const { query: first, documents, input_tokens: inputTokens } of ANSWERS.rerankers['bert-reranker'].cases) {
      const task = { kind: 'count-pairs', modelId: '', first, pairs: toPairs(documents), truncate: false } as const;
      expect(counter?.count(task)).toMatchObject({ inputTokens });
    }
    const slow = await openTokenCounter(await readModelFolder(layModel(folder, { fixture: 'xlm-r-reranker' })));
    expect(slow).toBeUndefined();
  });
});

describe('at the start', () => {
  it('workers tell the rows of every warm case', async () => {
    const { models: reports } = await models.pool.loaded;
    const timed = reports.find(({ modelId }) => modelId === 'bert-reranker')?.timedCases ?? [];
    const [second] = ANSWERS.rerankers['bert-reranker'].cases.slice(1);
    expect(timed).toHaveLength(2);
    const { rows = [], tokens, questions } = timed[0] as TimedCase;
    expect(rows).toHaveLength(second?.documents.length ?? 0);
    expect(tokens).toBe((second?.input_tokens ?? 0) + 3 * rows.length);
    expect([rows.reduce((sum, row) => sum + row, 0), questions]).toEqual([tokens, []]);
  });

  it.each([
    ['labels that mean something else', { labels: { count: 3, entailment: 2, contradiction: 0 } }, /golden mismatch/],
    ['more labels than the graph has', { labels: { count: 2, entailment: 1, contradiction: 0 } }, /3 logits where 2/],
    ['an output that the graph has not', { graph_io: { inputs: { ids: 'input_ids' }, output: 'scores' } }, /golden/],
  ])('a folder is refused with %s', async (_, manifest, message) => {
    await expect(ForeignModels.load([{ fixture: 'deberta-nli', manifest }])).rejects.toThrow(message);
  });
});
