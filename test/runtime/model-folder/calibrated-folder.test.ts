// Other temperatures in a model folder: what is rewritten, what stays, and that the folder still loads.

import { chmodSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { softmax } from '../../../src/domain/temperature.ts';
import {
  type DecisionFolder,
  isDecisionFolder,
  replaceMember,
  rescaleGolden,
  writeTemperatures,
} from '../../../src/runtime/model-folder/calibrated-folder.ts';
import { readModelFolder } from '../../../src/runtime/model-folder/model-folder.ts';
import { createTinyEngine, tinyDecision } from '../../workers/tiny-engine.ts';

const root = mkdtempSync(join(tmpdir(), 'umpire-calibrated-'));
const path = join(root, 'model');
const ONES = {
  choice: { '2': 1, '3-5': 1, '6-10': 1, '11+': 1 },
  noul: { '2': 1 },
  score: { '2': 1, '3-5': 1, '6-10': 1 },
};
const NEW = { ...ONES, choice: { ...ONES.choice, '3-5': 2.5 }, noul: { '2': 0.5 } };

beforeEach(() => {
  rmSync(path, { recursive: true, force: true });
  cpSync(tinyDecision, path, { recursive: true });
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function openFolder(): Promise<DecisionFolder> {
  const folder = await readModelFolder(path);
  if (!isDecisionFolder(folder)) throw new Error('The tiny model should answer questions.');
  return folder;
}

const readText = (name: string, folder = path) => readFileSync(join(folder, name), 'utf8');

describe('a manifest', () => {
  it('keeps everything around its temperatures byte for byte', () => {
    const text = readText('model.json');
    const written = replaceMember(text, 'temperatures', NEW);
    expect(JSON.parse(written)).toEqual({ ...JSON.parse(text), temperatures: NEW });
    expect(written.split('\n').filter((line, at) => line !== text.split('\n')[at])).toEqual([
      '      "3-5": 2.5,',
      '      "2": 0.5',
    ]);
    expect(replaceMember(written, 'temperatures', ONES)).toBe(text);
  });

  it.each([
    [
      '{"a":"temperatures","temperatures":{"choice":{}},"b":[1,{"temperatures":2}]}',
      '{"a":"temperatures","temperatures":{},"b":[1,{"temperatures":2}]}',
    ],
    ['{"b":{"temperatures":1}, "temperatures" : {"x":[1,2]} }', '{"b":{"temperatures":1}, "temperatures" : {} }'],
    ['{"a":"\\"temperatures\\":{","temperatures":{}}', '{"a":"\\"temperatures\\":{","temperatures":{}}'],
  ])('is found its temperatures in %s', (text, wanted) => expect(replaceMember(text, 'temperatures', {})).toBe(wanted));

  it.each([
    ['{"calibrated":false}', '{"calibrated":true}'],
    [
      '{"a": "calibrated", "calibrated": false , "b": {"calibrated": false}}',
      '{"a": "calibrated", "calibrated": true , "b": {"calibrated": false}}',
    ],
    ['{\n  "calibrated": true\n}\n', '{\n  "calibrated": true\n}\n'],
  ])('is marked as calibrated in %j', (text, wanted) => expect(replaceMember(text, 'calibrated', true)).toBe(wanted));

  it('must have what is replaced', () => {
    expect(() => replaceMember('{"a":{"temperatures":1}}', 'temperatures', {})).toThrow('there is no "temperatures"');
  });
});

it('golden answers are those of the same logits', () => {
  const logits = [0.3, -1.2, 2.5];
  const golden = (temperature: number) =>
    JSON.stringify({
      format: 1,
      cases: [
        {
          state: 'half a pair: \ud83d',
          questions: [
            {
              type: 'choice',
              instructions: '',
              options: [
                ['a', null],
                ['b', null],
                ['c', 'd'],
              ],
            },
            { type: 'noul', instructions: '' },
          ],
          probabilities: {
            fp32: [softmax(logits, temperature), [0, 1]],
            int8: [
              [0.2, 0.3, 0.5],
              [0.25, 0.75],
            ],
          },
        },
      ],
    });
  const text = rescaleGolden(golden(1), ONES, NEW);
  const [found, wanted] = [text, golden(2.5)].map((json) => JSON.parse(json).cases[0]);
  expect(found.state).toBe(wanted.state);
  expect(text).toContain('\\ud83d');
  for (const [i, probability] of found.probabilities.fp32[0].entries()) {
    expect(probability).toBeCloseTo(wanted.probabilities.fp32[0][i], 8);
  }
  expect(found.probabilities.fp32[1]).toEqual([0, 1]);
  expect(found.probabilities.int8[1][1]).toBeCloseTo(0.9, 8);
});

describe('a folder with other temperatures', () => {
  it('has another digest, the same graphs, and passes its golden answers', async () => {
    const before = await openFolder();
    const after = await writeTemperatures(before, NEW);
    expect(after.manifest).toEqual({ ...before.manifest, temperatures: NEW });
    expect(after.digest).not.toBe(before.digest);
    const changed = readdirSync(path).filter((name) => readText(name) !== readText(name, tinyDecision));
    expect(changed).toEqual(['SHA256SUMS', 'golden.json', 'model.json']);
    expect(readdirSync(path)).toEqual(readdirSync(tinyDecision));
    const engine = await createTinyEngine({ modelFolders: [path], workers: 1 });
    await expect(engine.ready).resolves.toBeUndefined();
    await engine.drain();
  });

  it('comes back as it was when the old ones are put in again', async () => {
    const before = await openFolder();
    const after = await writeTemperatures(before, NEW);
    await writeTemperatures({ ...after, manifest: { ...before.manifest, temperatures: NEW } }, ONES);
    expect(readText('model.json')).toBe(readText('model.json', tinyDecision));
  });

  // Whoever may do everything can write there all the same.
  it.skipIf(process.getuid?.() === 0)('is left alone when it cannot be written', async () => {
    const folder = await openFolder();
    chmodSync(path, 0o500);
    await expect(writeTemperatures(folder, NEW)).rejects.toThrow(/cannot be written: .*Copy the folder/);
    chmodSync(path, 0o700);
    expect((await openFolder()).digest).toBe(folder.digest);
    expect(readdirSync(path)).toEqual(readdirSync(tinyDecision));
  });
});
