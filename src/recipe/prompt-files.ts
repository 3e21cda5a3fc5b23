// What is put before a text, by the name of its use, as config_sentence_transformers.json has it.

import { isRecord } from '../domain/json.ts';
import { RecipeError } from './recipe-error.ts';
import type { RecipeFiles } from './recipe-files.ts';

const FILE = 'config_sentence_transformers.json';

export interface StatedPrompts {
  /** By name; an empty one is a prompt too. */
  readonly prompts: Readonly<Record<string, string>>;
  /** Of texts that come without a name. */
  readonly defaultName: string | undefined;
  readonly from: string;
}

/** @throws RecipeError when they cannot be told */
export async function readPrompts(files: RecipeFiles): Promise<StatedPrompts> {
  const config = await files.readObject(FILE);
  const stated = config['prompts'] ?? {};
  if (!isRecord(stated)) throw new RecipeError(`${FILE}: prompts is no object.`);
  for (const [name, prompt] of Object.entries(stated)) {
    if (name === '' || typeof prompt !== 'string') throw new RecipeError(`${FILE}: a prompt is no text with a name.`);
  }
  const prompts = stated as Record<string, string>;
  const defaultName = config['default_prompt_name'] ?? undefined;
  if (defaultName === undefined) return { prompts, defaultName: undefined, from: `${FILE}: prompts` };
  if (typeof defaultName !== 'string' || !Object.hasOwn(prompts, defaultName)) {
    throw new RecipeError(`${FILE}: default_prompt_name names none of the prompts.`);
  }
  return { prompts, defaultName, from: `${FILE}: prompts, default_prompt_name` };
}
