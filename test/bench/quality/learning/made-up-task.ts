// Frozen rows whose vectors say what is right, and a base that has no idea.

import { makeRandom } from '../../../../bench/load/workload.ts';
import type { FrozenTask } from '../../../../bench/quality/learning/frozen-tasks.ts';

/** Dimensions of the base's vector, and as many of the embedder's. */
const DIMENSIONS = 6;

interface MadeUp {
  readonly options?: number;
  readonly rows?: number;
  /** Whether the base's vector, the embedder's, or both tell the options apart. */
  readonly telling?: 'base' | 'embedder' | 'neither';
  /** What the base gives the right option. */
  readonly zeroShot?: number;
}

/** Options are right in turn. */
export function makeUpTask({
  options = 3,
  rows = 240,
  telling = 'base',
  zeroShot = 1 / options,
}: MadeUp = {}): FrozenTask {
  const random = makeRandom(5);
  const noise = (right: number, tells: boolean) =>
    Array.from({ length: DIMENSIONS }, (_, d) => (tells && d === right ? 1 : 0) + 0.8 * (random() - 0.5));
  const made = Array.from({ length: rows }, (_, at) => {
    const right = at % options;
    const share = (place: number) => (place === right ? zeroShot : (1 - zeroShot) / (options - 1));
    return {
      line: at + 1,
      state: at.toString(16).padStart(64, '0'),
      vector: Float32Array.from([...noise(right, telling === 'base'), ...noise(right, telling === 'embedder')]),
      zeroShot: Array.from({ length: options }, (_, place) => share(place)),
      target: Array.from({ length: options }, (_, place) => Number(place === right)),
    };
  });
  const names = Array.from({ length: options }, (_, place) => place.toString(16).padStart(64, 'a'));
  const frozen = { type: 'choice', asked: 'f'.repeat(64), options: names, rows: made } as const;
  return { name: 'made up', frozen, parts: [DIMENSIONS, DIMENSIONS] };
}
