import { describe, expect, it } from 'vitest';
import { memoryForModels } from './available-memory.ts';

const MIB = 2 ** 20;
const memory = (changes: Partial<Parameters<typeof memoryForModels>[0]> = {}) =>
  memoryForModels({
    platform: 'linux',
    freeBytes: 4000 * MIB,
    totalBytes: 8000 * MIB,
    limitBytes: undefined,
    ownBytes: 100 * MIB,
    ...changes,
  }) / MIB;

describe('memory for models', () => {
  it('is what the machine has left, less a reserve', () => expect(memory()).toBe(3936));
  it('is what the control group leaves, where that is less', () => {
    expect(memory({ limitBytes: 1000 * MIB })).toBe(836);
    expect(memory({ limitBytes: 6000 * MIB })).toBe(3936);
  });
  it('is never less than none', () => expect(memory({ limitBytes: 150 * MIB })).toBe(0));
  it('is nearly all of a Mac, which tells only what nobody uses at all', () => {
    expect(memory({ platform: 'darwin', freeBytes: 50 * MIB })).toBe(7836);
  });
});
