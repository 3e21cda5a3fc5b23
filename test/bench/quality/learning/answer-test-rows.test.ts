import { describe, expect, it } from 'vitest';
import {
  type Answerer,
  answerTestRows,
  answerWith,
  toAnswers,
} from '../../../../bench/quality/learning/answer-test-rows.ts';
import type { FrozenTask } from '../../../../bench/quality/learning/frozen-tasks.ts';
import { fitQuestion } from '../../../../src/learning/learn.ts';
import { figuresOf } from '../../../../src/quality/figures.ts';
import { makeUpTask } from './made-up-task.ts';

async function judge(task: FrozenTask) {
  const { rows } = task.frozen;
  const split = { training: rows.slice(0, 60), test: rows.slice(60) };
  const answered = await answerTestRows(task, split);
  const answers = toAnswers(task.name, task.frozen, split.test);
  const accuracy = (answerer: Answerer) => figuresOf(answers, answered[answerer].probabilities).accuracy;
  return { answered, accuracy };
}

describe('rows of a draw', () => {
  it('are answered by a head of the vector that tells, whichever it is', async () => {
    const byBase = await judge(makeUpTask({ telling: 'base' }));
    expect(byBase.accuracy('learned')).toBeGreaterThan(0.9);
    expect(byBase.accuracy('learnedWithEmbedder')).toBeGreaterThan(0.9);
    expect(byBase.accuracy('plain')).toBeLessThan(0.5);
    const byEmbedder = await judge(makeUpTask({ telling: 'embedder' }));
    expect(byEmbedder.accuracy('plain')).toBeGreaterThan(0.9);
    expect(byEmbedder.accuracy('learnedWithEmbedder')).toBeGreaterThan(0.9);
    expect(byEmbedder.accuracy('learned')).toBeLessThan(0.5);
  });

  it('are answered by zero-shot where the rows show no gain, but never by regression, which knows nothing of it', async () => {
    const task = makeUpTask({ telling: 'neither', zeroShot: 0.99 });
    const { answered, accuracy } = await judge(task);
    const zeroShot = task.frozen.rows.slice(60).map((row) => row.zeroShot);
    expect(answered.zeroShot).toEqual({ probabilities: zeroShot, isHead: false });
    expect(accuracy('learned')).toBe(1);
    expect(answered.plain.isHead).toBe(true);
    expect(accuracy('plain')).toBeLessThan(0.5);
  });

  it('have probabilities that sum to 1 and an answer for each row', async () => {
    const { answered } = await judge(makeUpTask());
    for (const { probabilities } of Object.values(answered)) {
      expect(probabilities).toHaveLength(180);
      for (const row of probabilities) expect(row.reduce((sum, value) => sum + value, 0)).toBeCloseTo(1, 9);
    }
  });
});

it('an option without rows is answered as one that the head does not know', async () => {
  const { frozen, parts } = makeUpTask({ options: 3 });
  const rows = frozen.rows.filter(({ target }) => target[2] === 0).slice(0, 60);
  const fitted = await fitQuestion({ ...frozen, rows }, { parts });
  if (fitted === undefined) throw new Error('There are rows enough.');
  const answer = answerWith({ ...frozen, rows }, fitted.head, frozen);
  const [row] = frozen.rows;
  if (row === undefined) throw new Error('There are rows.');
  const unlikely = answer({ ...row, zeroShot: [0.5, 0.5 - 1e-6, 1e-6] });
  const likely = answer({ ...row, zeroShot: [0.01, 0.01, 0.98] });
  expect(unlikely[2]).toBeLessThan(0.01);
  expect(likely[2]).toBeGreaterThan(unlikely[2] ?? 1);
  expect(likely[2]).toBeGreaterThan(0.3);
});
