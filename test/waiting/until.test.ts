// A wait that ends whatever happens.

import { expect, it } from 'vitest';
import { until } from './until.ts';

it('asks until it is so', async () => {
  let asked = 0;
  await until('it was asked three times', () => ++asked === 3);
  expect(asked).toBe(3);
});

it('ends with a sentence about what did not come', async () => {
  await expect(until('pigs fly', async () => false, { withinMs: 20 })).rejects.toThrow(
    'It did not come, within 0.02 s, that pigs fly.',
  );
});

it('does not ask on when asking fails', async () => {
  await expect(until('it answers', () => Promise.reject(new Error('gone')))).rejects.toThrow('gone');
});
