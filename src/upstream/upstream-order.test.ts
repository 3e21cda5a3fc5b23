import { describe, expect, it } from 'vitest';
import { drawOrder } from './upstream-order.ts';

const named = (name: string, weight?: number) => ({ name, weight });

describe('the order of upstreams', () => {
  it('is that of the list where there are no weights', () => {
    const members = [named('first'), named('second'), named('third')];
    expect(drawOrder(members, () => 0.99)).toEqual(members);
  });

  it('gives each its share of the first places, and leaves none out', () => {
    const members = [named('much', 6), named('some', 3), named('little', 1)];
    const firsts = { much: 0, some: 0, little: 0 };
    for (let share = 0; share < 1000; share++) {
      const drawn = drawOrder(members, () => share / 1000);
      expect(drawn).toHaveLength(3);
      expect(new Set(drawn)).toEqual(new Set(members));
      firsts[drawn[0]?.name as keyof typeof firsts] += 1;
    }
    expect(firsts).toEqual({ much: 600, some: 300, little: 100 });
  });

  it('draws the next ones by the weights that are left', () => {
    const members = [named('much', 6), named('some', 3), named('little', 1)];
    const shares = [0, 0.74, 0];
    expect(drawOrder(members, () => shares.shift() ?? 0).map(({ name }) => name)).toEqual(['much', 'some', 'little']);
  });
});
