// The schema of model.json (models/README.md is its prose). Main thread only: workers get plain data.

import { z } from 'zod';
import type { Manifest } from './manifest.ts';

const count = z.int().positive();
const temperature = z.number().min(0.01).max(100);
const fileName = z.string().regex(/^[\w.-]+$/, 'must be the name of a file in the folder');

const base = {
  format: z.literal(1),
  id: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/),
  description: z.string().min(1),
  release_date: z.iso.date(),
  owned_by: z.string().min(1),
  licence: z.string().min(1),
  price: z.strictObject({
    input_micro_usd_per_million_tokens: z.int().nonnegative(),
    output_micro_usd_per_million_tokens: z.int().nonnegative(),
  }),
};

/** Graphs by precision; every precision has every role. @param optional roles that it may have */
function graphs(roles: readonly string[], optional: readonly string[] = []) {
  const files = z.strictObject({
    ...Object.fromEntries(roles.map((role) => [role, fileName])),
    ...Object.fromEntries(optional.map((role) => [role, fileName.optional()])),
  });
  return z
    .partialRecord(z.enum(['int8', 'fp32', 'fp16']), files)
    .refine((value) => Object.keys(value).length > 0, 'must name at least one precision');
}

const splitEncoder = z.strictObject({
  ...base,
  type: z.literal('decision'),
  family: z.literal('split-encoder'),
  graphs: graphs(['encode', 'answer', 'head'], ['decide']),
  limits: z.strictObject({ state_tokens: count, question_tokens: count }),
  shape: z.strictObject({ layers: count, heads: count, head_size: count }),
  windows: z.strictObject({ tokens: z.int().min(4), max_index: z.int().nonnegative() }),
  branches: z.strictObject({ max_tokens: count, max_scores: count }),
  temperatures: z.strictObject({
    choice: z.partialRecord(z.enum(['2', '3-5', '6-10', '11+']), temperature),
    noul: z.partialRecord(z.enum(['2']), temperature),
    score: z.partialRecord(z.enum(['2', '3-5', '6-10']), temperature),
  }),
});

const textEncoder = z.strictObject({
  ...base,
  type: z.literal('embedding'),
  family: z.literal('text-encoder'),
  graphs: graphs(['embed']),
  limits: z.strictObject({ input_tokens: z.int().min(3) }),
  dimensions: count,
});

const manifest = z.discriminatedUnion('family', [splitEncoder, textEncoder]);

/** @throws Error whose message lists every fault of the manifest by its path */
export function parseManifest(value: unknown): Manifest {
  const result = manifest.safeParse(value);
  if (result.success) return result.data as Manifest;
  const faults = result.error.issues.map((issue) => `${issue.path.join('.') || 'model.json'}: ${issue.message}`);
  throw new Error(faults.join('; '));
}
