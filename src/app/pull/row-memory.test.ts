import { expect, it } from 'vitest';
import { loadConfig } from '../../config/load.ts';
import { rowBytesOf } from './row-memory.ts';

const GIGABYTE = 1024 ** 3;

function rowBytes(variables: Readonly<Record<string, string>>): number {
  return rowBytesOf(loadConfig({ flags: {}, env: { UMPIRE_ENGINE_WORKERS: '2', ...variables } }).config);
}

it("a row may take its worker's share of half of what the operator lets models take, and never more than the machine has", () => {
  expect(rowBytes({ UMPIRE_ENGINE_MEMORY_BYTES: String(GIGABYTE) })).toBe(GIGABYTE / 4);
  expect(rowBytes({ UMPIRE_ENGINE_MEMORY_BYTES: String(2 ** 44) })).toBe(rowBytes({}));
});
