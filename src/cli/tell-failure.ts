// How a command tells what went wrong: words for people, or with `--json` one object in the shape of the API's errors.
// Always on standard error.

import type { Failure } from './failure.ts';
import type { Program } from './program.ts';
import { renderJson } from './table.ts';

interface ToldFailure {
  readonly failure: Failure;
  /** For people, instead of the message. */
  readonly words?: string;
  /** For people. What is wrong comes last: it is where the eye is. */
  readonly before?: string | undefined;
  readonly isJson: boolean;
}

export function tellFailure(program: Program, { failure, words, before, isJson }: ToldFailure): void {
  const { message, type, param, code } = failure;
  if (isJson) program.writeError(renderJson({ error: { message, type, param, code } }));
  else program.writeError(`${before === undefined ? '' : `${before}\n`}umpire: ${words ?? message}\n`);
}
