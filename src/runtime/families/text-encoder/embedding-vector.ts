// What becomes of a model's vectors: those of windows are one, and one is cut to the dimensions that were asked for and
// written as asked. Pure; the same on either thread.

import type { EmbeddedWindows, EmbedTask } from '../../messages.ts';

/** The mean of the windows' vectors, each weighted by its tokens, normalised. A single one is left as it is. */
export function meanOfWindows({ vectors, tokens }: EmbeddedWindows): Float32Array {
  const [first, ...more] = vectors;
  if (first === undefined) throw new Error('no windows to take the mean of');
  if (more.length === 0) return first;
  const sums = new Float64Array(first.length);
  for (const [place, vector] of vectors.entries()) {
    const weight = tokens[place] ?? 0;
    for (let at = 0; at < sums.length; at++) sums[at] = (sums[at] ?? 0) + weight * (vector[at] ?? 0);
  }
  const norm = Math.hypot(...sums);
  return Float32Array.from(sums, (sum) => (norm === 0 ? 0 : sum / norm));
}

/** @param vector `[dimensions of the model]`, normalised */
export function finishVector(
  vector: Float32Array,
  { dimensions, encoding }: Pick<EmbedTask, 'dimensions' | 'encoding'>,
): Float32Array | string {
  const resized = resize(vector, dimensions);
  return encoding === 'base64' ? toBase64(resized) : resized;
}

/** The first `dimensions` numbers, normalised again. */
function resize(vector: Float32Array, dimensions: number | undefined): Float32Array {
  if (dimensions === undefined || dimensions >= vector.length) return vector;
  const head = vector.slice(0, dimensions);
  const norm = Math.sqrt(head.reduce((sum, value) => sum + value * value, 0));
  return norm === 0 ? head : head.map((value) => value / norm);
}

/** Little-endian float32, as the chat format's clients expect; the runtime library has no build for a big-endian CPU. */
function toBase64(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64');
}
