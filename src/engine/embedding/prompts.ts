// Which of a model's prompts a caller means, by its name or by what the text is for. Pure.

import { AppError } from '../../domain/errors.ts';
import type { InputType, PromptChoice } from '../../domain/prompt-choice.ts';
import type { TextEncoderManifest } from '../../runtime/model-folder/manifest.ts';

/** Names that models have for them, the likeliest first; sentence-transformers looks for the same. */
const NAMES_OF_TYPE: Readonly<Record<InputType, readonly string[]>> = {
  query: ['query', 'search_query'],
  document: ['document', 'passage', 'corpus', 'search_document'],
  classification: ['classification'],
  clustering: ['clustering'],
};

type PromptsOfModel = Pick<TextEncoderManifest, 'id' | 'prompts' | 'default_prompt'>;

/**
 * The text to put before every input; none: empty. A type of input that the model has no prompt for needs none: clients
 * say it of every model.
 * @throws AppError invalid_request: no prompt of that name
 */
export function resolvePrompt(
  choice: PromptChoice | undefined,
  { id, prompts, default_prompt }: PromptsOfModel,
): string {
  const texts = new Map(Object.entries(prompts));
  if (choice === undefined) return texts.get(default_prompt ?? '') ?? '';
  if ('inputType' in choice) return findOfType(choice.inputType, texts);
  const text = texts.get(choice.name);
  if (text !== undefined) return text;
  const known = texts.size === 0 ? 'It has none.' : `It has: ${[...texts.keys()].join(', ')}.`;
  throw new AppError('invalid_request', `${id} has no prompt of this name. ${known}`, { param: 'prompt_name' });
}

/** Some models write these names with a capital letter. */
function findOfType(inputType: InputType, texts: ReadonlyMap<string, string>): string {
  const byName = new Map([...texts].map(([name, text]) => [name.toLowerCase(), text]));
  const name = NAMES_OF_TYPE[inputType].find((candidate) => byName.has(candidate));
  return name === undefined ? '' : (byName.get(name) ?? '');
}
