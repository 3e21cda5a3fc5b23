import { expect, it } from 'vitest';
import { restoreOrder } from './option-order.ts';

it('values are put back in the order of the request', () =>
  expect(restoreOrder([0.1, 0.2, 0.7], [2, 0, 1])).toEqual([0.2, 0.7, 0.1]));
