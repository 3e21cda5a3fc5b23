// Logits that are numbers. A graph that overflows gives NaN, and softmax would make answers of it.

/** @param count of logits that are due @throws Error */
export function requireFinite(logits: Float32Array, count: number): Float32Array {
  if (logits.length !== count) throw new Error(`the graph gave ${logits.length} logits where ${count} were due`);
  if (!logits.every(Number.isFinite)) throw new Error('the graph gave a logit that is no finite number');
  return logits;
}
