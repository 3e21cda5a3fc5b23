import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freezeTask } from '../../../../bench/quality/learning/frozen-tasks.ts';
import type { LearningTask } from '../../../../bench/quality/learning/learning-tasks.ts';
import { hashOfState } from '../../../../src/learning/frozen-rows.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'umpire-frozen-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const task: LearningTask = {
  name: 'parcels: where?',
  question: {
    type: 'choice',
    instructions: 'Where is it?',
    options: ['home', 'away', 'lost'].map((name) => ({ name, description: null })),
  },
  names: ['home', 'away', 'lost'],
  rows: Array.from({ length: 5 }, (_, at) => ({
    state: `parcel ${at}`,
    target: [0, 1, 2].map((k) => Number(k === at % 3)),
  })),
};

function countingModels() {
  const asked: string[] = [];
  const freeze = async (state: string) => {
    asked.push(state);
    const number = Number(state.at(-1));
    return {
      zeroShot: [0.7, 0.2, 0.1],
      vectors: [Float32Array.of(number, 1), Float32Array.of(2, 3), Float32Array.of(number)],
    } as const;
  };
  return { asked, models: { freeze, hidden: 2, embedDimensions: 1 } };
}

const say = () => undefined;

describe('frozen rows', () => {
  it('hold all vectors, and what stands by option in the order of the options’ hashes', async () => {
    const { models } = countingModels();
    const { frozen, parts } = await freezeTask(models, task, { folder, rows: 4, say });
    expect(parts).toEqual([2, 2, 1]);
    expect(frozen.rows.map(({ vector }) => [...vector])).toEqual([0, 1, 2, 3].map((n) => [n, 1, 2, 3, n]));
    expect(frozen.options).toEqual(frozen.options.toSorted());
    // The right option of a row has the same probability wherever it stands.
    const ofRight = frozen.rows.map(({ target, zeroShot }) => zeroShot[target.indexOf(1)]);
    expect(ofRight).toEqual([0.7, 0.2, 0.1, 0.7]);
  });

  it('are read once, also when more are wanted later', async () => {
    await freezeTask(countingModels().models, task, { folder, rows: 3, say });
    const again = countingModels();
    const { frozen } = await freezeTask(again.models, task, { folder, rows: 5, say });
    expect(again.asked).toEqual(['parcel 3', 'parcel 4']);
    const whole = await freezeTask(countingModels().models, task, { folder: join(folder, 'other'), rows: 5, say });
    expect(frozen).toEqual(whole.frozen);
    const last = countingModels();
    expect((await freezeTask(last.models, task, { folder, rows: 2, say })).frozen.rows).toHaveLength(2);
    expect(last.asked).toEqual([]);
  });

  it('of other documents or another question are read anew; a broken file is said to be one', async () => {
    await freezeTask(countingModels().models, task, { folder, rows: 5, say });
    const { asked, models } = countingModels();
    const [first, ...rest] = task.rows;
    if (first === undefined) throw new Error('There are rows.');
    await freezeTask(models, { ...task, rows: [{ ...first, state: 'crate 9' }, ...rest] }, { folder, rows: 5, say });
    expect(asked).toHaveLength(5);
    const reworded = countingModels();
    const question = { ...task.question, instructions: 'Where?' };
    await freezeTask(reworded.models, { ...task, question }, { folder, rows: 2, say });
    expect(reworded.asked).toHaveLength(2);
    const file = join(folder, 'parcels-where-.rows');
    writeFileSync(file, readFileSync(file).subarray(0, 200));
    await expect(freezeTask(countingModels().models, task, { folder, rows: 5, say })).rejects.toThrow(
      /umprows|broken|sum/i,
    );
  });
});

it('documents have the hash that the script in models/training looks for', () => {
  const hashed = hashOfState('“naïve” \n\t\u0001 \u2028 /\\');
  expect(hashed).toBe('2ad36b374e098cd0437ddfb14c4bb3c254ccd1b46531d48a851183fb903e9147');
});
