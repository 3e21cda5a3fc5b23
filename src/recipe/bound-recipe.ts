// A recipe together with what its graphs say of themselves: everything that a manifest needs but the figures of the probe.

import type { GraphSignature } from '../runtime/graph-signature.ts';
import type { GraphIo, Pooling } from '../runtime/model-folder/manifest.ts';
import { bindLogits, bindVectors, checkMarkerGraph } from './graph-io.ts';
import type { Recipe, RecipeFact, TextEncoderRecipe } from './recipe.ts';
import { RecipeError } from './recipe-error.ts';

export interface BoundRecipe {
  /** undefined: the family knows its inputs by itself. */
  readonly io: GraphIo | undefined;
  /** Of a model that gives vectors. */
  readonly pooling: Pooling | undefined;
  /** Of its vectors, where the graph says it. */
  readonly dimensions: number | undefined;
  readonly facts: readonly RecipeFact[];
}

/** @throws RecipeError when the graph is not what the recipe takes it for */
export function bindRecipe(recipe: Recipe, signature: GraphSignature): BoundRecipe {
  if (recipe.kind === 'marker-encoder') {
    checkMarkerGraph(signature);
    return { io: undefined, pooling: undefined, dimensions: undefined, facts: [] };
  }
  if (recipe.kind === 'text-encoder') return bindTextEncoder(recipe, signature);
  const { io } = bindLogits(signature, recipe.kind === 'reranker' ? 1 : recipe.labels.count);
  return { io, pooling: undefined, dimensions: undefined, facts: ioFacts(io) };
}

/** Several precisions are fed alike. @throws RecipeError */
export function requireSameInputs(bound: BoundRecipe, other: BoundRecipe, path: string): void {
  if (JSON.stringify(bound.io) === JSON.stringify(other.io) && bound.pooling === other.pooling) return;
  throw new RecipeError(`${path} takes or gives other values than the other graph: choose one with --precision.`);
}

function bindTextEncoder(recipe: TextEncoderRecipe, signature: GraphSignature): BoundRecipe {
  const { modules, prompts } = recipe;
  const masksPrompts = !modules.includePrompt && Object.values(prompts.prompts).some((prompt) => prompt !== '');
  const isWholeUseless = recipe.pooling !== undefined || masksPrompts;
  const offered = isWholeUseless ? withoutWhole(signature) : signature;
  const { io, rank, width } = bindVectors(offered);
  const { pooling, from } =
    rank === 2 ? { pooling: 'graph' as const, from: `graph: ${io.output}` } : tokenPooling(recipe);
  const normalised = { what: 'normalised', value: 'always', from: 'every vector here has the length 1' };
  const include = {
    what: 'prompt counts for the mean',
    value: String(modules.includePrompt),
    from: '1_Pooling/config.json: include_prompt (absent: true)',
  };
  const hasPrompts = Object.keys(prompts.prompts).length > 0;
  return {
    io,
    pooling,
    dimensions: width,
    facts: [
      { what: 'pooling', value: pooling, from },
      ...(hasPrompts && pooling === 'mean' ? [include] : []),
      normalised,
      ...ioFacts(io),
    ],
  };
}

function withoutWhole({ inputs, outputs }: GraphSignature): GraphSignature {
  return { inputs, outputs: outputs.filter(({ shape }) => shape.length !== 2) };
}

function tokenPooling({ pooling, modules }: TextEncoderRecipe) {
  if (modules.laterSteps.length > 0) {
    throw new RecipeError(
      `modules.json: ${modules.laterSteps.join(', ')} comes after the graph, which is not supported: look for an export that gives sentence_embedding.`,
    );
  }
  const stated = pooling ?? modules.pooling;
  if (stated instanceof RecipeError) throw stated;
  if (stated !== undefined) return stated;
  throw new RecipeError(
    'No file says how the vectors of the tokens become one (1_Pooling/config.json is missing): add --pooling cls|mean|last as the card of the model has it. A wrong one gives vectors that look right and find nothing.',
  );
}

function ioFacts({ inputs, output }: GraphIo): RecipeFact[] {
  const { past = [], ...named } = inputs;
  const fed = [...Object.values(named), ...(past.length > 0 ? [`${past.length} empty past values`] : [])];
  return [
    { what: 'inputs', value: fed.join(', '), from: 'graph' },
    { what: 'output', value: output, from: 'graph' },
  ];
}
