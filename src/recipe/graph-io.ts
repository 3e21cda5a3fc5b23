// From what a graph says of its inputs and outputs to how it is fed and read. What is not known for sure is refused: a
// graph that takes something else than it is given would answer, and wrongly.

import type { GraphSignature, GraphValue } from '../runtime/graph-signature.ts';
import type { GraphIo } from '../runtime/model-folder/manifest.ts';
import { RecipeError } from './recipe-error.ts';

export interface BoundGraph {
  readonly io: GraphIo;
  /** Of the output that is read. */
  readonly rank: number;
  /** Size of its last dimension, where that is fixed. */
  readonly width: number | undefined;
}

const ROW_RANK = 2;
const PAST = /^past_key_values\.(\d+)\.(key|value)$/;
const PAST_RANK = 4;
const ROLES: Readonly<Record<string, 'ids' | 'mask' | 'types' | 'positions'>> = {
  input_ids: 'ids',
  attention_mask: 'mask',
  token_type_ids: 'types',
  position_ids: 'positions',
};
/** What these would be asked for, no request says. */
const KNOWN_STRANGERS: Readonly<Record<string, string>> = {
  task_id: 'the number of a task (jina-embeddings-v3)',
  pixel_values: 'an image',
  decoder_input_ids: 'the text of a decoder',
  inputs_embeds: 'vectors instead of tokens',
};
const VECTOR_OUTPUTS = ['last_hidden_state', 'token_embeddings'];
const NEVER_READ = new Set(['pooler_output']);
const MARKER_INPUTS: readonly (readonly [name: string, type: string, rank: number])[] = [
  ['input_ids', 'int64', 2],
  ['attention_mask', 'int64', 2],
  ['marker_pos', 'int64', 2],
  ['marker_mask', 'bool', 2],
  ['qtype', 'int64', 1],
];

/** The inputs of a graph that reads one row of tokens. @throws RecipeError */
function bindInputs({ inputs }: GraphSignature): GraphIo['inputs'] {
  const bound: Partial<Record<'ids' | 'mask' | 'types' | 'positions', string>> = {};
  for (const input of inputs.filter(({ name }) => !PAST.test(name))) {
    const role = ROLES[input.name];
    if (role === undefined) throw unknownInput(input.name);
    requireInput(input, 'int64', ROW_RANK);
    bound[role] = input.name;
  }
  const { ids } = bound;
  if (ids === undefined) throw new RecipeError(`The graph takes no input_ids; it takes ${listNames(inputs)}.`);
  const past = inputs.filter(({ name }) => PAST.test(name)).map(bindPast);
  return { ...bound, ids, ...(past.length > 0 && { past }) };
}

/** One vector where the graph gives it, else those of all tokens. @throws RecipeError */
export function bindVectors(signature: GraphSignature): BoundGraph {
  const inputs = bindInputs(signature);
  const { outputs } = signature;
  const whole = outputs.find(({ name, shape }) => name === 'sentence_embedding' && shape.length === 2);
  const tokens = outputs.filter(({ shape, name }) => shape.length === 3 && !NEVER_READ.has(name));
  const named = tokens.find(({ name }) => VECTOR_OUTPUTS.includes(name));
  const output = whole ?? named ?? (tokens.length === 1 ? tokens[0] : undefined);
  if (output === undefined) {
    throw new RecipeError(
      `The graph gives neither sentence_embedding nor the vectors of all tokens; it gives ${listNames(outputs)}.`,
    );
  }
  return bindOutput(inputs, output);
}

/** @param labels how many logits it must give. @throws RecipeError */
export function bindLogits(signature: GraphSignature, labels: number): BoundGraph {
  const inputs = bindInputs(signature);
  const output = signature.outputs.find(({ name }) => name === 'logits') ?? signature.outputs[0];
  if (output === undefined || output.shape.length !== ROW_RANK) {
    throw new RecipeError(`The graph gives no logits of a pair; it gives ${listNames(signature.outputs)}.`);
  }
  const bound = bindOutput(inputs, output);
  if (bound.width !== undefined && bound.width !== labels) {
    throw new RecipeError(`config.json has ${labels} labels, and the graph gives ${bound.width}.`);
  }
  return bound;
}

/** @throws RecipeError when it is not the graph of a Laya package */
export function checkMarkerGraph({ inputs, outputs }: GraphSignature): void {
  for (const input of inputs) {
    const known = MARKER_INPUTS.find(([name]) => name === input.name);
    if (known === undefined) throw unknownInput(input.name);
    requireInput(input, known[1], known[2]);
  }
  const missing = MARKER_INPUTS.filter(([name]) => !inputs.some((input) => input.name === name));
  if (missing.length > 0) {
    throw new RecipeError(`The graph does not take ${missing.map(([name]) => name).join(', ')}.`);
  }
  const logits = outputs.find(({ name }) => name === 'logits');
  if (logits === undefined) throw new RecipeError(`The graph gives no logits; it gives ${listNames(outputs)}.`);
  requireFloat(logits);
}

function bindOutput(inputs: GraphIo['inputs'], output: GraphValue): BoundGraph {
  requireFloat(output);
  const last = output.shape.at(-1);
  const width = typeof last === 'number' && last > 0 ? last : undefined;
  return { io: { inputs, output: output.name }, rank: output.shape.length, width };
}

function requireInput({ name, type, shape }: GraphValue, wanted: string, rank: number): void {
  if (type !== wanted) throw new RecipeError(`The graph takes ${name} as ${type}; only ${wanted} is supported.`);
  if (shape.length !== rank)
    throw new RecipeError(`The graph takes ${name} with ${shape.length} dimensions, not ${rank}.`);
  const [rows, ...rest] = shape;
  if (typeof rows === 'number' && rows > 1) {
    throw new RecipeError(`The graph always takes ${rows} rows at a time (${name}); one is what is run here.`);
  }
  const baked = rest.find((size) => typeof size === 'number' && size > 0);
  if (baked !== undefined) {
    throw new RecipeError(`The graph was exported for ${baked} tokens alone (${name}): its length must be free.`);
  }
}

function bindPast({ name, type, shape }: GraphValue): { name: string; heads: number; head_size: number } {
  const [, heads, , size] = shape;
  if (type === 'float16') throw new RecipeError(`The graph takes ${name} as float16, which is not supported.`);
  if (type !== 'float32' || shape.length !== PAST_RANK || typeof heads !== 'number' || typeof size !== 'number') {
    throw new RecipeError(`The graph takes ${name} in a form that is not supported.`);
  }
  return { name, heads, head_size: size };
}

function requireFloat({ name, type }: GraphValue): void {
  if (type !== 'float32') throw new RecipeError(`The graph gives ${name} as ${type}; only float32 is supported.`);
}

function unknownInput(name: string): RecipeError {
  const meaning = KNOWN_STRANGERS[name];
  return new RecipeError(
    `The graph wants an input ${name}${meaning === undefined ? '' : `, ${meaning}`}, which nothing here can give it.`,
  );
}

function listNames(values: readonly GraphValue[]): string {
  return values.map(({ name, shape }) => `${name} [${shape.join(', ')}]`).join(', ') || 'nothing';
}
