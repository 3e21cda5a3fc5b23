// The statement that a model of entailment is asked about: where its files say it, and as the operator gives it.

import { isRecord } from '../domain/json.ts';
import { RecipeError } from './recipe-error.ts';
import type { Sourced } from './recipe-files.ts';

/** What publishers of such models train and measure with. */
const SUGGESTIONS = [
  'This text is about {option}.',
  'This example is {option}.',
  'The answer to "{instructions}" is: {option}',
];
const OPTION = /\{(option|label|description)\}/;

/** @param given on the command line. @throws RecipeError when nobody says it */
export function chooseHypothesis(
  config: Readonly<Record<string, unknown>>,
  given: string | undefined,
): Sourced<string> {
  const stated = given === undefined ? findStated(config) : { value: given, from: '--template' };
  if (stated === undefined) {
    const ready = SUGGESTIONS.map((template) => `  --template '${template}'`).join('\n');
    throw new RecipeError(
      `No file says which statement the model is asked about: choose it as the model's card shows it, such as\n${ready}`,
    );
  }
  const value = stated.value.replace('{}', '{option}');
  if (!OPTION.test(value)) {
    throw new RecipeError(`${stated.from}: the statement must hold {option}, {label} or {description}.`);
  }
  return { value, from: stated.from };
}

function findStated(config: Readonly<Record<string, unknown>>): Sourced<string> | undefined {
  if (typeof config['hypothesis_template'] === 'string') {
    return { value: config['hypothesis_template'], from: 'config.json: hypothesis_template' };
  }
  const tasks = config['task_specific_params'];
  for (const [name, task] of Object.entries(isRecord(tasks) ? tasks : {})) {
    const template = isRecord(task) ? task['hypothesis_template'] : undefined;
    if (typeof template === 'string') {
      return { value: template, from: `config.json: task_specific_params.${name}.hypothesis_template` };
    }
  }
  return undefined;
}
