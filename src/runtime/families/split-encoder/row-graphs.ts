// The graphs that take rows of many windows and questions in one run (`batch`, `head-rows`): padding, names, and what of the
// outputs belongs to which row. What goes together is decision-rows.ts's.

import { floatTensor, floatValues, type GraphSession, int64Tensor, signedTensor, type Tensor } from '../../session.ts';
import { type DecisionRow, windowsOf } from './decision-rows.ts';
import type { PreparedQuestion } from './prompt.ts';
import { typeNumber } from './split-graphs.ts';
import type { Window } from './windows.ts';

const NONE = -1;

/** In the place of graphs that take one row at a time: where rows are run together they are not loaded. */
export const UNOPENED: GraphSession = {
  outputs: [],
  run: () => Promise.reject(new Error('this graph is not loaded')),
  runInto: () => Promise.reject(new Error('this graph is not loaded')),
  close: () => Promise.resolve(),
};

/** What a row comes to. */
export interface FoundRow {
  /** `[pieces × hidden]` */
  readonly pieces: Float32Array;
  /** Of its document: the mean of the last values over its tokens, `[hidden]`. */
  readonly vector: Float32Array;
  /** What its question saw in the document, `[hidden]`; absent: the graph gives none. */
  readonly view?: Float32Array;
}

/** A question of which all rows are done. */
export interface RowQuestion extends Pick<PreparedQuestion, 'type' | 'levels'> {
  /** `[options × hidden]` */
  readonly vectors: Float32Array;
}

/** @returns `[rows]` */
export async function runRows(session: GraphSession, rows: readonly DecisionRow[]): Promise<FoundRow[]> {
  const windows = windowsOf(rows);
  const outputs = await session.run(runFeeds(rows, windows));
  const pieces = split(outputs['piece_vectors']);
  const vectors = split(outputs['window_vectors']);
  const views = outputs['views'] === undefined ? [] : split(outputs['views']);
  const hidden = vectors[0]?.length ?? 0;
  const places = new Map(windows.map(({ key }, place) => [key, place]));
  return rows.map(({ chunk, windows: own, stateWindows }, row) => {
    const parts = own.slice(0, stateWindows).map(({ key, tokens }) => ({
      vector: vectors[places.get(key) ?? 0] ?? new Float32Array(),
      tokens,
    }));
    return {
      pieces: (pieces[row] ?? new Float32Array()).slice(0, chunk.options.length * hidden),
      vector: meanOf(parts),
      ...(views[row] && { view: views[row].slice() }),
    };
  });
}

/** @param questions of as many options each @returns `[questions]`, each `[options]` in the model's order */
export async function runHeads(session: GraphSession, questions: readonly RowQuestion[]): Promise<Float32Array[]> {
  const count = questions[0]?.levels.length ?? 0;
  const hidden = (questions[0]?.vectors.length ?? 0) / Math.max(1, count);
  const vectors = new Float32Array(questions.length * count * hidden);
  for (const [row, question] of questions.entries()) vectors.set(question.vectors, row * count * hidden);
  const outputs = await session.run({
    option_vectors: floatTensor(vectors, [questions.length, count, hidden]),
    question_type: int64Tensor(
      questions.map(({ type }) => typeNumber(type)),
      [questions.length],
    ),
    levels: int64Tensor(
      questions.flatMap(({ levels }) => levels),
      [questions.length, count],
    ),
  });
  return split(outputs['logits']);
}

function runFeeds(rows: readonly DecisionRow[], windows: readonly Window[]): Record<string, Tensor> {
  const places = new Map(windows.map(({ key }, place) => [key, place]));
  const ofWindows = (values: (window: Window) => number): Tensor => int64Tensor(windows.map(values), [windows.length]);
  const mostPieces = Math.max(...rows.map(({ chunk }) => chunk.options.length));
  const pieces = Array.from({ length: mostPieces }, (_, piece) => piece + 1);
  return {
    window_ids: filledUp(
      windows.map(({ ids }) => ids),
      0,
    ),
    window_tokens: ofWindows(({ tokens }) => tokens),
    segment: ofWindows(({ segment }) => segment),
    window_index: ofWindows(({ index }) => index),
    token_ids: filledUp(
      rows.map(({ chunk }) => chunk.tokenIds),
      0,
    ),
    positions: filledUp(
      rows.map(({ chunk }) => chunk.positions),
      0,
    ),
    branch: filledUp(
      rows.map(({ chunk }) => chunk.branch),
      NONE,
    ),
    pieces: int64Tensor(pieces, [mostPieces]),
    windows_of: filledUp(
      rows.map((row) => row.windows.map(({ key }) => places.get(key) ?? NONE)),
      NONE,
    ),
  };
}

function filledUp(rows: readonly ArrayLike<number>[], filler: number): Tensor {
  const longest = Math.max(...rows.map(({ length }) => length));
  const values = new Int32Array(rows.length * longest).fill(filler);
  for (const [place, row] of rows.entries()) values.set(row, place * longest);
  return signedTensor(values, [rows.length, longest]);
}

/** By the first dimension. */
function split(tensor: Tensor | undefined): Float32Array[] {
  const values = floatValues(tensor);
  const rows = tensor?.dims[0] ?? 0;
  const size = values.length / Math.max(1, rows);
  return Array.from({ length: rows }, (_, row) => values.subarray(row * size, (row + 1) * size));
}

function meanOf(parts: readonly { readonly vector: Float32Array; readonly tokens: number }[]): Float32Array {
  const tokens = parts.reduce((sum, part) => sum + part.tokens, 0);
  const mean = new Float32Array(parts[0]?.vector.length ?? 0);
  for (let at = 0; at < mean.length; at++) {
    mean[at] = parts.reduce((sum, part) => sum + (part.vector[at] ?? 0) * part.tokens, 0) / tokens;
  }
  return mean;
}
