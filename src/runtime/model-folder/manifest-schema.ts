// The schema of model.json (models/README.md is its prose). Main thread only: workers get plain data.

import { z } from 'zod';
import type { Manifest } from './manifest.ts';

/** Of learned models, whose manifest is learned-manifest.ts's. */
export const LEARNED_FAMILY = 'learned';

const count = z.int().positive();
const temperature = z.number().min(0.01).max(100);
const fileName = z.string().regex(/^[\w.-]+$/, 'must be the name of a file in the folder');

/** What every folder says of its model. */
export const manifestBase = {
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

const format1 = { ...manifestBase, format: z.literal(1) };

const agreement = z.strictObject({
  rows: count,
  least_cosine: z.number().optional(),
  largest_shift: z.number().optional(),
});

/** What a folder says that was made of somebody else's files. */
const format2 = {
  ...manifestBase,
  format: z.literal(2),
  source: z
    .strictObject({
      endpoint: z.string().min(1),
      repo: z.string().min(1),
      commit: z.string().regex(/^[0-9a-f]{40}$/),
      files: z.array(
        z.strictObject({
          path: z.string().min(1),
          size: z.int().nonnegative(),
          sha256: z.string().regex(/^[0-9a-f]{64}$/),
        }),
      ),
    })
    .optional(),
  licence_accepted: z.iso.date().optional(),
  probe: z
    .strictObject({
      date: z.iso.date(),
      agreement: z.record(z.string(), z.union([z.literal('unchecked'), agreement])),
      peak_bytes: z.int().nonnegative(),
      stated_tokens: count,
    })
    .optional(),
  recipe: z.array(z.strictObject({ what: z.string(), value: z.string(), from: z.string() })).optional(),
};

const inputName = z.string().min(1);
const graphIo = z.strictObject({
  inputs: z.strictObject({
    ids: inputName,
    mask: inputName.optional(),
    types: inputName.optional(),
    positions: inputName.optional(),
    past: z.array(z.strictObject({ name: inputName, heads: count, head_size: count })).optional(),
  }),
  output: inputName,
});

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

const temperatures = z.strictObject({
  choice: z.partialRecord(z.enum(['2', '3-5', '6-10', '11+']), temperature),
  noul: z.partialRecord(z.enum(['2']), temperature),
  score: z.partialRecord(z.enum(['2', '3-5', '6-10']), temperature),
});

const splitEncoder = z.strictObject({
  ...format1,
  type: z.literal('decision'),
  family: z.literal('split-encoder'),
  graphs: graphs(['encode', 'answer', 'head'], ['decide', 'batch', 'head-rows']),
  limits: z.strictObject({ state_tokens: count, question_tokens: count }),
  shape: z.strictObject({ layers: count, heads: count, head_size: count }),
  windows: z.strictObject({ tokens: z.int().min(4), max_index: z.int().nonnegative() }),
  branches: z.strictObject({ max_tokens: count, max_scores: count }),
  temperatures,
});

const embeddingBase = {
  type: z.literal('embedding'),
  family: z.literal('text-encoder'),
  graphs: graphs(['embed']),
  limits: z.strictObject({ input_tokens: z.int().min(3) }),
  dimensions: count,
};

/** Its graph takes and gives what our own training writes. */
const ownTextEncoder = z.strictObject({ ...format1, ...embeddingBase }).transform((manifest) => ({
  ...manifest,
  graph_io: { inputs: { ids: 'token_ids', mask: 'attention_mask' }, output: 'embeddings' },
  pooling: 'graph' as const,
  normalized: true,
  prompts: {},
  include_prompt: true,
}));

const textEncoder = z
  .strictObject({
    ...format2,
    ...embeddingBase,
    graph_io: graphIo,
    pooling: z.enum(['graph', 'cls', 'mean', 'last']),
    prompts: z.record(z.string().min(1), z.string()),
    default_prompt: z.string().optional(),
    include_prompt: z.boolean(),
  })
  .refine(({ prompts, default_prompt: name }) => name === undefined || Object.hasOwn(prompts, name), {
    path: ['default_prompt'],
    message: 'must be the name of one of the prompts',
  });

const pairBase = {
  ...format2,
  family: z.literal('pair-scorer'),
  graphs: graphs(['score']),
  graph_io: graphIo,
  limits: z.strictObject({ pair_tokens: z.int().min(8) }),
};

const place = z.int().nonnegative();
const entailment = z
  .strictObject({
    ...pairBase,
    type: z.literal('decision'),
    labels: z.strictObject({ count: z.int().min(2).max(3), entailment: place, contradiction: place }),
    hypothesis: z.string().regex(/\{(option|label|description)\}/, 'must have {option}, {label} or {description}'),
    temperatures,
    calibrated: z.boolean(),
  })
  .refine(
    ({ labels: { count: labels, entailment, contradiction } }) =>
      entailment !== contradiction && Math.max(entailment, contradiction) < labels,
    { path: ['labels'], message: 'entailment and contradiction must be two places below count' },
  );

const reranker = z.strictObject({ ...pairBase, type: z.literal('reranker') });

const tokenText = z.string().min(1);
const markerEncoder = z.strictObject({
  ...format2,
  type: z.literal('decision'),
  family: z.literal('marker-encoder'),
  graphs: graphs(['score']),
  limits: z.strictObject({ row_tokens: z.int().min(16), question_tokens: z.int().min(16), option_tokens: count }),
  special_tokens: z.strictObject({ cls: tokenText, sep: tokenText, mask: tokenText }),
  temperatures,
  calibrated: z.boolean(),
});

/** Whoever reads a fault should read of the layout that the folder has. */
function schemaOf(value: unknown): z.ZodType {
  const { format, family, type } = (value ?? {}) as Record<string, unknown>;
  if (format === 2) {
    if (family === 'pair-scorer') return type === 'reranker' ? reranker : entailment;
    return family === 'marker-encoder' ? markerEncoder : textEncoder;
  }
  return family === 'text-encoder' ? ownTextEncoder : splitEncoder;
}

/** @throws Error whose message lists every fault of the manifest by its path */
export function parseManifest(value: unknown): Manifest {
  const { format, family } = (value ?? {}) as Record<string, unknown>;
  if (family === LEARNED_FAMILY) throw new Error('a learned model: it is no model to load, and is served by its base');
  if (format !== 1 && format !== 2) {
    throw new Error(`format: ${JSON.stringify(format) ?? 'none'} is not known; this version reads 1 and 2`);
  }
  const result = schemaOf(value).safeParse(value);
  if (result.success) return result.data as Manifest;
  throw new Error(tellFaults(result.error));
}

/** Every fault of a manifest by its path. */
export function tellFaults({ issues }: z.ZodError): string {
  return issues.map((issue) => `${issue.path.join('.') || 'model.json'}: ${issue.message}`).join('; ');
}
