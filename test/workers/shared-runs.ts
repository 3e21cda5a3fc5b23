// The same models in three engines: each call alone, calls that share runs as on a device, and those that share none of their
// rows; and what the answers of two of them have to do with each other.

import { expect } from 'vitest';
import type { JobResult } from '../../src/engine/engine.ts';
import type { LocalEngine, LocalEngineOptions } from '../../src/engine/local-engine.ts';
import { createTinyEngine } from './tiny-engine.ts';

const SHARED = { tokens: 2048, waitMs: 2, inFlight: 2, exact: false, onCpu: true };
const WORDS = 'the order of the customer is late and a refund for it was asked twice by mail'.split(' ');
/** Of a probability, or a number of a vector, in full precision. */
const TOLERANCE = 1e-4;

export interface Engines {
  readonly alone: LocalEngine;
  readonly shared: LocalEngine;
  readonly exact: LocalEngine;
  /** What any of them said that is not mere information. */
  readonly warnings: readonly string[];
  close(): Promise<void>;
}

export async function openEngines(changes: Partial<LocalEngineOptions>): Promise<Engines> {
  const warnings: string[] = [];
  const onEvent = ({ level, message }: { level: string; message: string }) => {
    if (level !== 'info') warnings.push(message);
  };
  const alone = await createTinyEngine({ ...changes, onEvent });
  const shared = await createTinyEngine({ ...changes, onEvent, batch: SHARED });
  const exact = await createTinyEngine({ ...changes, onEvent, batch: { ...SHARED, exact: true } });
  const all = [alone, shared, exact];
  await Promise.all(all.map((engine) => engine.ready));
  return {
    alone,
    shared,
    exact,
    warnings,
    async close() {
      await Promise.all(all.map((engine) => engine.drain()));
    },
  };
}

/** One to eighteen words. */
export function textOf(place: number): string {
  const words = 1 + ((place * 7) % 18);
  return Array.from({ length: words }, (_, word) => WORDS[(place * 5 + word * 3) % WORDS.length]).join(' ');
}

/** Most shared a run, and each has what it has alone, within the tolerance. */
export function expectAlike<Result extends JobResult>(
  found: readonly Result[],
  expected: readonly Result[],
  numbersOf: (result: Result) => readonly number[],
): void {
  expect(found.filter(({ isBatched }) => isBatched).length).toBeGreaterThan(expected.length / 2);
  for (const [place, due] of expected.entries()) {
    const result = found[place] as Result;
    const numbers = numbersOf(result);
    expect(numbers).toHaveLength(numbersOf(due).length);
    for (const [at, value] of numbersOf(due).entries())
      expect(Math.abs(value - (numbers[at] ?? Number.NaN))).toBeLessThan(TOLERANCE);
    expect(result.inputTokens).toBe(due.inputTokens);
  }
}

/** The same bits, and no run was shared. */
export function expectSame<Result extends JobResult>(
  found: readonly Result[],
  expected: readonly Result[],
  numbersOf: (result: Result) => readonly number[],
): void {
  expect(found.map(numbersOf)).toEqual(expected.map(numbersOf));
  expect(found.some(({ isBatched }) => isBatched)).toBe(false);
}
