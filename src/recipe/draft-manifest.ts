// The manifest of a folder that is being made, from its recipe. What only a run can tell (agreement, memory, the size of a
// vector) comes later.

import { temperaturesOf } from '../runtime/families/marker-encoder/laya-config.ts';
import type { GraphFiles, Manifest, ProbeFigures } from '../runtime/model-folder/manifest.ts';
import type { BoundRecipe } from './bound-recipe.ts';
import type { GraphPrecision } from './graph-files.ts';
import type { Recipe } from './recipe.ts';

/** What a manifest says besides what its recipe does. */
export type ManifestFrame = Pick<
  Manifest,
  'id' | 'description' | 'release_date' | 'owned_by' | 'licence' | 'source' | 'licence_accepted'
>;

export interface DraftParts {
  readonly frame: ManifestFrame;
  readonly recipe: Recipe;
  readonly bound: BoundRecipe;
  /** Name of the graph in the folder, by precision. */
  readonly graphs: Readonly<Partial<Record<GraphPrecision, string>>>;
  /** Of a row, at most. */
  readonly tokens: number;
  /** Of a vector. */
  readonly dimensions: number;
  readonly probe?: ProbeFigures;
}

const EQUAL = {
  choice: { '2': 1, '3-5': 1, '6-10': 1, '11+': 1 },
  noul: { '2': 1 },
  score: { '2': 1, '3-5': 1, '6-10': 1 },
};
const FREE = { input_micro_usd_per_million_tokens: 0, output_micro_usd_per_million_tokens: 0 };

export function draftManifest(parts: DraftParts): Manifest {
  const { frame, recipe, bound, tokens, dimensions, probe } = parts;
  const role = recipe.kind === 'text-encoder' ? 'embed' : 'score';
  const graphs: Record<string, GraphFiles> = Object.fromEntries(
    Object.entries(parts.graphs).map(([precision, name]) => [precision, { [role]: name }]),
  );
  const facts = [...recipe.facts, ...bound.facts];
  const base = { ...frame, graphs, price: FREE, recipe: facts, ...(probe !== undefined && { probe }) };
  const { io: graph_io = { inputs: { ids: '' }, output: '' }, pooling = 'graph' } = bound;
  switch (recipe.kind) {
    case 'text-encoder': {
      const { prompts, defaultName } = recipe.prompts;
      return {
        ...base,
        type: 'embedding',
        family: 'text-encoder',
        limits: { input_tokens: tokens },
        dimensions,
        graph_io,
        pooling,
        prompts,
        ...(defaultName !== undefined && { default_prompt: defaultName }),
        include_prompt: recipe.modules.includePrompt,
      };
    }
    case 'reranker':
      return { ...base, type: 'reranker', family: 'pair-scorer', limits: { pair_tokens: tokens }, graph_io };
    case 'entailment': {
      const { count, entailment, contradiction } = recipe.labels;
      return {
        ...base,
        type: 'decision',
        family: 'pair-scorer',
        limits: { pair_tokens: tokens },
        graph_io,
        labels: { count, entailment, contradiction },
        hypothesis: recipe.hypothesis,
        temperatures: EQUAL,
        calibrated: false,
      };
    }
    case 'marker-encoder': {
      const { questionTokens, optionTokens, specialTokens, config } = recipe.marker;
      const limits = {
        row_tokens: tokens,
        question_tokens: Math.min(questionTokens, tokens),
        option_tokens: optionTokens,
      };
      const calibrated = config['temperature'] !== undefined || config['temperature_by_options'] !== undefined;
      const temperatures = temperaturesOf(config);
      return {
        ...base,
        type: 'decision',
        family: 'marker-encoder',
        limits,
        special_tokens: specialTokens,
        temperatures,
        calibrated,
      };
    }
  }
}

/** As model.json holds it. */
export function renderDraft(manifest: Manifest): string {
  return `${JSON.stringify({ format: 2, ...manifest }, null, 2)}\n`;
}
