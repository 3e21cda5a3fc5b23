// The tokenizer's file of a shipped model, for tests that are about it.

import { join } from 'node:path';
import { readPackedJson } from './packed-json.ts';

const MODELS = join(import.meta.dirname, '..', '..', 'models');

export function readShippedTokenizer(model: 'kev' | 'text-embed-mini'): object {
  return readPackedJson(join(MODELS, model, 'tokenizer.json.gz')) as object;
}
