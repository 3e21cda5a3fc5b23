// Splits the inputs of an embedding into parts that do not hold a worker for long. Pure.

import type { InputShare } from '../../runtime/messages.ts';
import type { EmbedInput } from '../engine.ts';

/** One input, or a share of a long one, as it is measured before it is tokenised. */
export interface SizedInput {
  /** Index in the call. */
  readonly place: number;
  readonly input: EmbedInput;
  /** Absent: all of it. */
  readonly share?: InputShare;
  /** Estimated for texts, specials included. */
  readonly tokens: number;
  /** Estimated worker time. */
  readonly costMs: number;
}

export interface InputGroup {
  readonly inputs: readonly SizedInput[];
  readonly costMs: number;
}

export interface PartLimits {
  /** Tokens of one part with every input counted as the longest. */
  readonly paddedTokens: number;
  readonly costMs: number;
}

/** Parts within the limits, at least one input each, inputs of like length together, shortest first. */
export function splitEmbedInputs(inputs: readonly SizedInput[], limits: PartLimits): InputGroup[] {
  const parts: { inputs: SizedInput[]; costMs: number }[] = [];
  for (const sized of [...inputs].sort((a, b) => a.tokens - b.tokens || a.place - b.place)) {
    let part = parts.at(-1);
    const isFull =
      part === undefined ||
      part.costMs + sized.costMs > limits.costMs ||
      (part.inputs.length + 1) * sized.tokens > limits.paddedTokens;
    if (part === undefined || isFull) {
      part = { inputs: [], costMs: 0 };
      parts.push(part);
    }
    part.inputs.push(sized);
    part.costMs += sized.costMs;
  }
  return parts;
}

/**
 * The values of each input of the call, from values per part: one, or one for each of its shares, in their order.
 * @param partValues `[parts][inputs of the part]`
 */
export function restorePlaces<T>(parts: readonly InputGroup[], partValues: readonly (readonly T[])[]): T[][] {
  const values: T[][] = [];
  for (const [index, part] of parts.entries()) {
    for (const [at, { place, share }] of part.inputs.entries()) {
      const value = partValues[index]?.[at];
      if (value === undefined) continue;
      values[place] ??= [];
      values[place][share?.index ?? 0] = value;
    }
  }
  return values;
}
