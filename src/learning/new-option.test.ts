import { describe, expect, it } from 'vitest';
import { answerLearned } from './answer-learned.ts';
import type { FrozenRow } from './frozen-rows.ts';
import { learnQuestion } from './learn.ts';

const OPTIONS = 6;
const DIMENSIONS = 16;
const HASHES = Array.from({ length: OPTIONS }, (_, k) => `${k}`.repeat(64));

/** The same every time, from 0 to 1. */
function draws(): () => number {
  let state = 11;
  return () => {
    state = (state + 0x6d_2b_79_f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Vectors around a place of their option; zero-shot is right three times of four. */
function makeRows(count: number): FrozenRow[] {
  const next = draws();
  return Array.from({ length: count }, (_, i) => {
    const label = i % OPTIONS;
    const vector = Float32Array.from({ length: DIMENSIONS }, (_unused, d) => 2 * next() - 1 + (d === label ? 1.5 : 0));
    const guess = next() < 0.75 ? label : Math.floor(next() * OPTIONS);
    const zeroShot = HASHES.map((_unused, k) => (k === guess ? 0.7 : 0.3 / (OPTIONS - 1)));
    return {
      line: i + 1,
      state: `${i * 7919}`.padStart(64, '0'),
      vector,
      zeroShot,
      target: HASHES.map((_unused, k) => (k === label ? 1 : 0)),
    };
  });
}

describe('an option without rows', () => {
  const rows = makeRows(480);
  const newest = OPTIONS - 1;

  it('is found beside options that were learned, and not ahead of them', async () => {
    const known = rows.slice(0, 240).filter(({ target }) => target[newest] === 0);
    const report = await learnQuestion({ type: 'choice', asked: 'a'.repeat(64), options: HASHES, rows: known });
    const { learned } = report;
    if (learned === undefined) throw new Error('It was not learned.');
    expect(learned.options).not.toContain(HASHES[newest]);
    const order = HASHES.map((_, k) => k);
    const places = HASHES.map((hash) => learned.options.indexOf(hash));
    const judge = (newOption: number) => {
      const head = { ...learned.head, newOption };
      const answers = rows.slice(240).map(({ zeroShot, vector, target }) => {
        const answer = answerLearned({ learned: { ...learned, head }, order, places }, zeroShot, vector);
        return { chosen: answer.indexOf(Math.max(...answer)), right: target.indexOf(1) };
      });
      const chosen = answers.filter((answer) => answer.chosen === newest);
      const found = chosen.filter(({ right }) => right === newest).length;
      const wanted = answers.filter(({ right }) => right === newest).length;
      return { recall: found / wanted, precision: found / chosen.length };
    };
    const { recall, precision } = judge(learned.head.newOption);
    expect(recall).toBeGreaterThan(0.55);
    expect(precision).toBeGreaterThan(0.75);
    // Without what stands in for its bias it would be found less often.
    expect(judge(0).recall).toBeLessThan(recall - 0.1);
  });
});
