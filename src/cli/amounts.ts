// Dollars and counts, as people write them on the command line. No amount is ever a floating-point number.

import { findPicoUsd, MAX_PRICE_MICRO_USD } from '../domain/money.ts';
import { type CommandArguments, type CommandOption, UsageError } from './command.ts';

const PICO_PER_MICRO = 1_000_000n;
const MAX_COUNT = 1_000_000_000;
const DEFAULT_LIMIT = 20;

export const LIMIT_OPTION = {
  type: 'string',
  help: `How many; ${DEFAULT_LIMIT} if left out`,
  example: '100',
} as const satisfies CommandOption;

/** @throws UsageError */
export function readLimit({ options }: CommandArguments): number {
  return parseCount(String(options['limit'] ?? DEFAULT_LIMIT), '--limit');
}

/** @returns pico-dollars. @throws UsageError */
export function parseUsd(given: string, option: string): bigint {
  const picoUsd = findPicoUsd(given);
  if (picoUsd === undefined) throw new UsageError(`${option} takes dollars such as 12.50, below 10,000,000.`);
  return picoUsd;
}

/** Dollars per 1,000,000 tokens. @returns micro-dollars. @throws UsageError */
export function parsePrice(given: string, option: string): number {
  const picoUsd = findPicoUsd(given);
  const isWhole = picoUsd !== undefined && picoUsd % PICO_PER_MICRO === 0n;
  const microUsd = isWhole ? Number(picoUsd / PICO_PER_MICRO) : Number.NaN;
  if (!(microUsd <= MAX_PRICE_MICRO_USD)) {
    throw new UsageError(`${option} takes dollars per million tokens such as 0.0378: 1,000 at most, 6 decimals.`);
  }
  return microUsd;
}

/** @throws UsageError */
export function parseCount(given: string, option: string): number {
  const count = /^\d{1,10}$/.test(given) ? Number(given) : 0;
  if (count < 1 || count > MAX_COUNT) throw new UsageError(`${option} takes a whole number from 1 on.`);
  return count;
}
