// Why nothing could be learned, in words for whoever asked. No text of a row stands in them.

import type { RowRefusal } from '../quality/asking.ts';

export type LearnFault =
  | 'invalid_rows'
  | 'model_taken'
  | 'model_missing'
  | 'base_changed'
  | 'unusable_base'
  | 'too_many_rows';

export class LearnError extends Error {
  override readonly name = 'LearnError';
  readonly code: LearnFault;
  /** By row of the file, where it is about rows. */
  readonly faults: readonly RowRefusal[];

  constructor(code: LearnFault, message: string, faults: readonly RowRefusal[] = []) {
    super(faults.length === 0 ? message : [message, ...listFaults(faults)].join('\n'));
    this.code = code;
    this.faults = faults;
  }
}

const MOST_TOLD = 10;

function listFaults(faults: readonly RowRefusal[]): string[] {
  const told = faults.slice(0, MOST_TOLD).map(({ line, message }) => `line ${line}: ${message}`);
  const more = faults.length - told.length;
  return more > 0 ? [...told, `… and ${more} more`] : told;
}
