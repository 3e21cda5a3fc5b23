// model.json of a learned model (models/README.md is its prose). It holds no text of a caller: questions and options are
// told by their hashes.

import { z } from 'zod';
import { LEARNED_FAMILY, manifestBase, tellFaults } from './manifest-schema.ts';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const reference = z.strictObject({ id: manifestBase.id, digest: z.string().regex(/^sha256:[0-9a-f]{64}$/) });
/** null: of no rows. */
const figure = z.strictObject({ mean: z.number().nullable(), spread: z.number().nullable() });
const measured = z.strictObject({ accuracy: figure, macro_f1: figure, ece: figure, answered_at_5: figure });

const schema = z
  .strictObject({
    ...manifestBase,
    format: z.literal(3),
    type: z.literal('decision'),
    family: z.literal(LEARNED_FAMILY),
    base: reference,
    embedder: reference.optional(),
    dimensions: z.int().positive(),
    limits: z.record(z.string(), z.int().nonnegative()),
    questions: z.array(
      z.strictObject({
        type: z.enum(['choice', 'noul', 'score']),
        asked: sha256,
        options: z.array(sha256),
        rows: z.array(z.number().nonnegative()),
        figures: z.strictObject({ zero_shot: measured, learned: measured }),
      }),
    ),
  })
  .readonly();

export type LearnedManifest = z.output<typeof schema>;

/** @throws Error whose message lists every fault of the manifest by its path */
export function parseLearnedManifest(value: unknown): LearnedManifest {
  const { format, family } = (value ?? {}) as Record<string, unknown>;
  if (family !== LEARNED_FAMILY)
    throw new Error(`family: ${JSON.stringify(family) ?? 'none'} is not "${LEARNED_FAMILY}"`);
  if (format !== 3)
    throw new Error(`format: ${JSON.stringify(format) ?? 'none'} is not known; of learned models this version reads 3`);
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new Error(tellFaults(result.error));
}
