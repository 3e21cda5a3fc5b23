// What BERT's tokenizer sets around a text, for model folders that have no files.

import type { Frames } from '../../src/runtime/tokenizer/frames.ts';

export const BERT_FRAMES: Frames = {
  single: [
    { ids: [101], type: 0 },
    { text: 'first', type: 0 },
    { ids: [102], type: 0 },
  ],
  pair: undefined,
};
