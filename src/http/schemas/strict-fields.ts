// Objects that take the fields they name and no others, and fields of queries, which are texts. Messages never quote what
// was sent.

import { z } from 'zod';
import { isPrintable, PRINTABLE_PATTERN } from '../../domain/field-rules.ts';

/** @param what `body`, `query`, or the field that holds the object */
export function strictFields<Shape extends z.core.$ZodLooseShape>(what: string, shape: Shape) {
  const subject = what === 'body' || what === 'query' ? `The ${what}` : `The field '${what}'`;
  const names = Object.keys(shape).join(', ');
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `${subject} has a name that is not known here. It takes: ${names}.`
        : `${subject} must be ${what === 'body' ? 'a JSON object' : 'an object'}.`,
  });
}

/** A parameter of the query, given once. */
export const queryText = (name: string) => z.string(`The parameter '${name}' must be given once.`);

/** Free text of a filter. No model, key or endpoint has control characters, and PostgreSQL takes no NUL. */
export const filterText = (name: string) =>
  queryText(name)
    .max(256, `The parameter '${name}' is too long.`)
    .refine(isPrintable, `The parameter '${name}' has control characters.`)
    .meta({ pattern: PRINTABLE_PATTERN });

export interface NumberRules {
  readonly min: number;
  readonly max: number;
  readonly byDefault: number;
}

/** A whole number in the query. */
export function queryNumber(name: string, { min, max, byDefault }: NumberRules) {
  const message = `The parameter '${name}' must be a whole number from ${min} to ${max.toLocaleString('en-US')}.`;
  return queryText(name)
    .optional()
    .transform((text, context) => {
      if (text === undefined) return byDefault;
      const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
      if (number >= min && number <= max) return number;
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    })
    .meta({ type: 'integer', minimum: min, maximum: max, default: byDefault });
}
