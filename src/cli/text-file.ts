// A text of a file that the command line names.

import { readFile } from 'node:fs/promises';
import { messageOf } from '../domain/errors.ts';
import { UsageError } from './command.ts';

/** @throws UsageError */
export async function readTextFile(file: string): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readFile(file));
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(`${file} is no text: it is not valid UTF-8.`);
    throw new UsageError(`${file} cannot be read: ${messageOf(error)}.`);
  }
}
