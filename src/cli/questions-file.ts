// The questions of a file, as JSON or YAML, into the text of a request's `questions`. Both keep the order of names.

import { parse, YAMLParseError } from 'yaml';
import { UsageError } from './command.ts';
import { type AskedQuestions, questionsFromJson } from './questions.ts';
import { readTextFile } from './text-file.ts';

/** @throws UsageError */
export async function readQuestionsFile(path: string): Promise<AskedQuestions> {
  const text = await readTextFile(path);
  return questionsFromJson(/\.ya?ml$/i.test(path) ? yamlToJson(text) : text);
}

/** @returns JSON text. @throws UsageError */
function yamlToJson(text: string): string {
  try {
    // Names such as `true`, of a yes or no, are texts here. Maps keep names such as "10" where they stand.
    return writeJson(parse(text, { stringKeys: true, mapAsMap: true, maxAliasCount: 0 }));
  } catch (error) {
    if (!(error instanceof YAMLParseError || error instanceof ReferenceError)) throw error;
    throw new UsageError(`The file of --questions is not valid YAML: ${error.message.split('\n')[0]}`);
  }
}

function writeJson(value: unknown): string {
  if (value instanceof Map) {
    return `{${[...value].map(([name, member]) => `${JSON.stringify(String(name))}:${writeJson(member)}`).join(',')}}`;
  }
  if (Array.isArray(value)) return `[${value.map(writeJson).join(',')}]`;
  return JSON.stringify(value) ?? 'null';
}
