// Statements of the ledger, compiled once for each number of rows: to compile one takes longer than to carry it out.

import { type Compilable, CompiledQuery, type Kysely } from 'kysely';
import { isPostgres } from './database-kind.ts';
import type { Database } from './schema.ts';

const texts = { sqlite: new Map<string, string>(), postgres: new Map<string, string>() };

/** Of one shape, whatever its values. */
export interface Statement<Row> {
  /** Names the shape, but for the number of parameters. */
  readonly name: string;
  /** In the order in which `build` uses them. */
  readonly parameters: readonly unknown[];
  /** Called once for each shape. */
  readonly build: () => Compilable<Row>;
}

export function compiled<Row>(
  database: Kysely<Database>,
  { name, parameters, build }: Statement<Row>,
): Compilable<Row> {
  const known = isPostgres(database) ? texts.postgres : texts.sqlite;
  const shape = `${name} ${parameters.length}`;
  let text = known.get(shape);
  if (text === undefined) {
    const built = build().compile();
    if (built.parameters.length !== parameters.length) throw new Error(`Parameters of the statement "${name}" differ.`);
    text = built.sql;
    known.set(shape, text);
  }
  const query = CompiledQuery.raw(text, [...parameters]) as CompiledQuery<Row>;
  return { compile: () => query };
}

/** Lengths are powers of two, so that there are few shapes. */
export function slices<Row>(rows: readonly Row[], maxRows: number): readonly (readonly Row[])[] {
  if (rows.length === 0) return [];
  const length = Math.min(maxRows, 2 ** Math.floor(Math.log2(rows.length)));
  return [rows.slice(0, length), ...slices(rows.slice(length), maxRows)];
}

/** For `in (…)`: the last one again and again, until the length is a power of two. */
export function padded<Value>(values: readonly Value[]): readonly Value[] {
  const last = values.at(-1);
  if (last === undefined) return [];
  const length = 2 ** Math.ceil(Math.log2(values.length));
  return [...values, ...Array.from({ length: length - values.length }, () => last)];
}
