// How a tokenizer.json is refused: by the name of what this server does not do.

import { StartError } from '../start-error.ts';

/** @param what with its article: `a normalizer Nmt` */
export function unsupported(what: string): StartError {
  return new StartError(`tokenizer.json: ${what} is not supported`);
}
