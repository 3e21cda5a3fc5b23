// How one described schema points to another that has a name of its own, where zod cannot see that it does.

import { z } from 'zod';

const SCHEMAS = '#/components/schemas/';

/** What a request takes: a reference where the schema has a name (`id`), otherwise the schema itself. */
export function refersTo(schema: z.ZodType): Record<string, unknown> {
  const id = z.globalRegistry.get(schema)?.id;
  // The name that the provider gives it as an input; openapi.ts makes the plain one of it.
  if (id !== undefined) return { $ref: `${SCHEMAS}${id}Input` };
  const { $schema: _, ...inPlace } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return inPlace;
}

/** Tells generated clients which of several named schemas a `type` stands for. */
export function discriminator(nameOfType: Readonly<Record<string, string>>) {
  const mapping = Object.entries(nameOfType).map(([type, name]) => [type, SCHEMAS + name]);
  return { propertyName: 'type', mapping: Object.fromEntries(mapping) as Record<string, string> };
}
