// What a graph of somebody else's making is fed for one row, by the names that the manifest has for its inputs. Which ids
// a row has is the families'.

import type { GraphIo } from '../model-folder/manifest.ts';
import { floatTensor, int64Tensor, type Tensor } from '../session.ts';
import type { FramedRow } from '../tokenizer/frames.ts';

/** Whether rows of it may stand side by side: only where a mask says what is padding. */
export function canPadRows({ inputs }: GraphIo): boolean {
  return inputs.mask !== undefined && inputs.past === undefined;
}

/** Rows side by side, each filled up to the longest; what is filled up is masked. */
export function paddedFeeds({ inputs }: GraphIo, rows: readonly FramedRow[]): Record<string, Tensor> {
  const longest = Math.max(...rows.map(({ ids }) => ids.length));
  const dims = [rows.length, longest];
  const tensor = (valuesOf: (row: FramedRow) => ArrayLike<number>): Tensor => {
    const values = new Int32Array(rows.length * longest);
    for (const [place, row] of rows.entries()) values.set(valuesOf(row), place * longest);
    return int64Tensor(values, dims);
  };
  const feeds = { [inputs.ids]: tensor(({ ids }) => ids) };
  if (inputs.mask !== undefined) feeds[inputs.mask] = tensor(({ ids }) => new Int32Array(ids.length).fill(1));
  if (inputs.types !== undefined) feeds[inputs.types] = tensor(({ types }) => types);
  if (inputs.positions !== undefined) feeds[inputs.positions] = tensor(({ ids }) => Int32Array.from(ids.keys()));
  return feeds;
}

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
