// The YAML file of settings: read and parsed, its faults told without quoting it. What the settings mean, the schema knows.

import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { messageOf } from '../domain/errors.ts';
import { isRecord } from '../domain/json.ts';

export interface ConfigFile {
  readonly path: string;
  readonly content: Record<string, unknown>;
}

/** @param path absolute. @returns undefined when the file has faults, which are appended to `faults` */
export function readConfigFile(path: string, faults: string[]): ConfigFile | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    faults.push(`The file ${path} cannot be read: ${messageOf(error)}.`);
    return undefined;
  }
  const document = parseDocument(text, { uniqueKeys: true });
  for (const error of document.errors) {
    // The first line of a message says what and where; the following ones quote the file, which may hold a secret.
    faults.push(`The file ${path} is not valid YAML: ${error.message.split('\n')[0]}`);
  }
  if (document.errors.length > 0) return undefined;
  const content: unknown = document.toJS() ?? {};
  if (isRecord(content)) return { path, content: withoutEmpty(content) };
  faults.push(`The file ${path} must hold settings by name.`);
  return undefined;
}

/** An empty value in the file leaves the setting unset, as an empty variable does. */
function withoutEmpty(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(record)
      .filter(([, value]) => value !== null && value !== '')
      .map(([key, value]) => [key, isRecord(value) ? withoutEmpty(value) : value]),
  );
}
