// What a graph of somebody else's making is fed for one row, by the names that the manifest has for its inputs. Which ids
// a row has is the families'.

import type { GraphIo } from '../model-folder/manifest.ts';
import { floatTensor, int64Tensor, type Tensor } from '../session.ts';
import type { FramedRow } from '../tokenizer/frames.ts';

/** One row, unpadded: all of it is attended to. */
export function rowFeeds({ inputs }: GraphIo, { ids, types }: FramedRow): Record<string, Tensor> {
  const dims = [1, ids.length];
  const feeds = { [inputs.ids]: int64Tensor(ids, dims) };
  if (inputs.mask !== undefined) feeds[inputs.mask] = int64Tensor(new Int32Array(ids.length).fill(1), dims);
  if (inputs.types !== undefined) feeds[inputs.types] = int64Tensor(types, dims);
  if (inputs.positions !== undefined) {
    feeds[inputs.positions] = int64Tensor(
      Int32Array.from(ids, (_, place) => place),
      dims,
    );
  }
  for (const { name, heads, head_size: headSize } of inputs.past ?? []) {
    feeds[name] = floatTensor(new Float32Array(), [1, heads, 0, headSize]);
  }
  return feeds;
}
