// How values of PostgreSQL become values of JavaScript. The driver alone gives 64-bit integers as text.

import { type CustomTypesConfig, types } from 'pg';

const INTEGER = /^-?\d+$/;

/** A number where a number is exact, a bigint beyond: as the SQLite store has it. */
function parseInteger(text: string): number | bigint {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : BigInt(text);
}

/** Sums of 64-bit integers are `numeric`. Anything with a fraction stays text. */
function parseNumeric(text: string): number | bigint | string {
  return INTEGER.test(text) ? parseInteger(text) : text;
}

export const exactIntegers: CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === types.builtins.INT8) return parseInteger;
    if (oid === types.builtins.NUMERIC) return parseNumeric;
    return types.getTypeParser(oid, format as 'text');
  },
};
