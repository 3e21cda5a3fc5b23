// The vector that a head reads of a document, out of the parts that models give of it. Pure.

/**
 * One after the other: that of the base, then the question's view of it, then that of the embedder; some may be missing.
 * @param parts each `[dimensions]` of its model @returns `[dimensions]` of all
 */
export function joinVectors(parts: readonly (Float32Array | undefined)[]): Float32Array {
  const given = parts.filter((part) => part !== undefined);
  const [only] = given;
  if (given.length === 1 && only !== undefined) return only;
  const joined = new Float32Array(given.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of given) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
