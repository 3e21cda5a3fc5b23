// In which order a model sees options, and back to that of the request: the order of a request says nothing. Pure.

import type { Question } from '../../domain/question.ts';

/** An option as a model reads it. */
export interface RenderedOption {
  readonly text: string;
  readonly name: string;
}

/** Places in the request, sorted by the UTF-8 bytes of (text, name); score levels keep their order. */
export function sortOptions(question: Question, rendered: readonly RenderedOption[]): number[] {
  const places = rendered.map((_, place) => place);
  if (question.type === 'score') return places;
  // Buffer.from writes U+FFFD for a lone surrogate, as the tokenizer reads it.
  const bytes = rendered.map(({ text, name }) => ({ text: Buffer.from(text), name: Buffer.from(name) }));
  return places.sort((a, b) => {
    const [left, right] = [bytes[a], bytes[b]];
    if (left === undefined || right === undefined) return 0;
    return Buffer.compare(left.text, right.text) || Buffer.compare(left.name, right.name);
  });
}

/** Values in the model's order, put back in the request's. @param order place in the request of each value */
export function restoreOrder(values: readonly number[], order: readonly number[]): number[] {
  const restored = new Array<number>(values.length).fill(0);
  for (const [index, place] of order.entries()) restored[place] = values[index] ?? 0;
  return restored;
}
