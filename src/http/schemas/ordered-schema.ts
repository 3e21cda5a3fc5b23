// zod schemas for the ordered Maps of the decision route's parser. They validate entries and document themselves as the
// JSON object that a client writes.

import { z } from 'zod';
import { refersTo } from './named-schema.ts';

export interface OrderedEntry<Value> {
  readonly name: string;
  readonly value: Value;
}

/** A Map read as the object of these fields; other names in it are ignored. @param message when it is no object */
export function orderedObject<Shape extends z.core.$ZodLooseShape>(shape: Shape, message: string) {
  return z.preprocess((input) => pick(input, Object.keys(shape)), z.object(shape, message));
}

/** The known fields of a Map as a plain object; anything else as it came. */
export function pick(input: unknown, names: readonly string[]): unknown {
  if (!(input instanceof Map)) return input;
  const entries = names.filter((name) => input.has(name)).map((name) => [name, input.get(name)]);
  return Object.fromEntries(entries);
}

export interface OrderedRecordRules {
  readonly min: number;
  readonly max: number;
  readonly maxNameLength: number;
  /** When it is no object, or has fewer entries than `min`. */
  readonly emptyMessage: string;
  readonly tooManyMessage: string;
  readonly nameMessage: string;
  /** A problem that comes before those of the value's own schema; may quote the name. */
  readonly findProblem?: (entry: OrderedEntry<unknown>) => string | undefined;
}

/** A problem of an entry whose message holds text of the caller. */
const QUOTES_CALLER = { quotesCaller: true } as const;

/**
 * A Map of any names to values of one schema, as a list of entries in the order of the text. Only the first problem is
 * reported, under the position of its entry.
 */
export function orderedRecord<Value extends z.ZodType>(value: Value, rules: OrderedRecordRules) {
  return z
    .unknown()
    .transform((input, context): OrderedEntry<z.output<Value>>[] => {
      const problem = sizeProblem(input, rules);
      if (problem !== undefined) {
        context.addIssue({ code: 'custom', message: problem });
        return z.NEVER;
      }
      return readEntries(input as ReadonlyMap<string, unknown>, value, rules, context) ?? z.NEVER;
    })
    .meta({
      type: 'object',
      minProperties: rules.min,
      maxProperties: rules.max,
      propertyNames: { maxLength: rules.maxNameLength },
      additionalProperties: refersTo(value),
    });
}

function sizeProblem(input: unknown, rules: OrderedRecordRules): string | undefined {
  if (!(input instanceof Map) || input.size < rules.min) return rules.emptyMessage;
  return input.size > rules.max ? rules.tooManyMessage : undefined;
}

/** @returns undefined after the first problem, which has been added to the context */
function readEntries<Value extends z.ZodType>(
  input: ReadonlyMap<string, unknown>,
  schema: Value,
  rules: OrderedRecordRules,
  context: z.core.$RefinementCtx,
): OrderedEntry<z.output<Value>>[] | undefined {
  const entries: OrderedEntry<z.output<Value>>[] = [];
  for (const [name, raw] of input) {
    const path = [entries.length];
    if (name.length > rules.maxNameLength) {
      context.addIssue({ code: 'custom', message: rules.nameMessage, path });
      return undefined;
    }
    const early = rules.findProblem?.({ name, value: raw });
    if (early !== undefined) {
      context.addIssue({ code: 'custom', message: early, path, params: QUOTES_CALLER });
      return undefined;
    }
    const result = schema.safeParse(raw);
    if (!result.success) {
      const issue = result.error.issues[0];
      context.addIssue({
        code: 'custom',
        message: issue?.message ?? 'Invalid.',
        path: [...path, ...(issue?.path ?? [])],
      });
      return undefined;
    }
    entries.push({ name, value: result.data });
  }
  return entries;
}
