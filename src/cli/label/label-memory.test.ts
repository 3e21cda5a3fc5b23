import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Question } from '../../domain/question.ts';
import { keyOfItem, keyOfQuestion } from './item-key.ts';
import { LabelMemory, LabelMemoryTaken } from './label-memory.ts';

const LATE: Question = { type: 'noul', instructions: 'Is it late?', whenFalse: null, whenTrue: null };
const MOOD: Question = { type: 'score', instructions: 'How angry?', levels: ['calm', 'cross'] };

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'umpire-label-memory-'));
  path = join(folder, 'out.jsonl.run');
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the memory of a labelling', () => {
  it('is of one sitting at a time', () => {
    const memory = LabelMemory.open(path, 'a');
    expect(() => LabelMemory.open(path, 'a')).toThrow(LabelMemoryTaken);
    memory.close();
    LabelMemory.open(path, 'a').close();
  });

  it('keeps what the model read, to the bit, and of that model alone', () => {
    const reading = { probabilities: [[0.1 + 0.2, 0.7]], vector: Float32Array.from([0.1, -2, 3e-8]) };
    const without = { probabilities: [[0, 1]], vector: undefined };
    const first = LabelMemory.open(path, 'a');
    first.keepReading('one', [LATE], reading);
    first.keepReading('two', [LATE], without);
    first.close();
    const second = LabelMemory.open(path, 'a');
    expect(second.findReading('one', [LATE])).toEqual(reading);
    expect(second.findReading('two', [LATE])).toEqual(without);
    expect(second.findReading('one', [MOOD])).toBeUndefined();
    expect(second.findReading('three', [LATE])).toBeUndefined();
    second.close();
    const other = LabelMemory.open(path, 'b');
    expect(other.findReading('one', [LATE])).toBeUndefined();
    other.close();
  });

  it('keeps what was passed over until it is taken back', () => {
    const first = LabelMemory.open(path, 'a');
    for (const key of ['x', 'y', 'x']) first.keepPassed(key);
    first.forgetPassed('y');
    first.close();
    const second = LabelMemory.open(path, 'a');
    expect([...second.passed]).toEqual(['x']);
    second.close();
  });

  it('holds no text', () => {
    const memory = LabelMemory.open(path, 'a');
    memory.keepReading('a secret text', [LATE], { probabilities: [[1]], vector: undefined });
    memory.keepPassed(keyOfItem('a secret text', LATE));
    memory.close();
    expect(readFileSync(path, 'latin1')).not.toMatch(/secret|late/);
  });

  it('is not made of a file of others', () => {
    writeFileSync(path, 'dear diary, '.repeat(100));
    expect(() => LabelMemory.open(path, 'a')).toThrow('is not a file of ours');
  });
});

describe('a question', () => {
  const choice = (...names: readonly string[]): Question => ({
    type: 'choice',
    instructions: 'Which?',
    options: names.map((name) => ({ name, description: null })),
  });

  it('is the same in whatever order its options stand', () => {
    expect(keyOfItem('x', choice('a', 'b'))).toBe(keyOfItem('x', choice('b', 'a')));
    expect(keyOfQuestion(choice('a', 'b'))).not.toBe(keyOfQuestion(choice('a', 'c')));
    expect(keyOfItem('x', choice('a'))).not.toBe(keyOfItem('y', choice('a')));
  });

  it('of a score is another in another order', () => {
    expect(keyOfQuestion(MOOD)).not.toBe(keyOfQuestion({ ...MOOD, levels: ['cross', 'calm'] }));
  });
});
