// What is asked of each row of a batch, and what of the reply is written. Pure.

import type { CsvCell } from '../../domain/csv.ts';
import type { WireReply } from '../server-connection.ts';
import type { InputRow } from './input-rows.ts';

/** What one row is given in the output. */
export interface RowAnswer {
  /** Members of a JSON object, as text without its braces. */
  readonly members: string;
  /** One for each of the task's headings. */
  readonly cells: readonly CsvCell[];
}

export interface BatchTask {
  readonly path: string;
  /** Rows in one request. */
  readonly atOnce: number;
  readonly headings: readonly string[];
  writeRequest(rows: readonly InputRow[]): string;
  /** @returns one for each row. @throws when the reply is not what it should be */
  readReply(reply: WireReply, rows: readonly InputRow[]): readonly RowAnswer[];
}

/** Dollars that a reply cost; empty where the server did not say. */
export function costOf({ headers }: WireReply): string {
  return headers['x-umpire-cost-usd'] ?? '';
}
