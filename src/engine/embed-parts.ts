// Splits a large embedding call into parts that do not hold a worker for long. Pure.

import type { EmbedInput } from './engine.ts';

export interface EmbedPart {
  /** Index of each input in the call, and the input. */
  readonly inputs: readonly { readonly place: number; readonly input: EmbedInput }[];
  /** For the cost model. */
  readonly characters: number;
}

/** A token array counts as the text it stands for, roughly. */
const CHARACTERS_PER_TOKEN = 4;

/** UTF-16 code units of an input, or what its token ids stand for. */
function countCharacters(input: EmbedInput): number {
  return typeof input === 'string' ? input.length : input.length * CHARACTERS_PER_TOKEN;
}

/** Parts of at most `maxCharacters`, at least one input each, inputs of like length together, shortest first. */
export function splitEmbedInputs(inputs: readonly EmbedInput[], maxCharacters: number): EmbedPart[] {
  const sized = inputs.map((input, place) => ({ place, input, characters: countCharacters(input) }));
  sized.sort((a, b) => a.characters - b.characters || a.place - b.place);
  const parts: { inputs: { place: number; input: EmbedInput }[]; characters: number }[] = [];
  for (const { place, input, characters } of sized) {
    let part = parts.at(-1);
    if (part === undefined || part.characters + characters > maxCharacters) {
      part = { inputs: [], characters: 0 };
      parts.push(part);
    }
    part.inputs.push({ place, input });
    part.characters += characters;
  }
  return parts;
}

/** One value per input of the call, from values per part. @param partValues `[parts][inputs of the part]` */
export function restorePlaces<T>(parts: readonly EmbedPart[], partValues: readonly (readonly T[])[]): T[] {
  const values: T[] = [];
  for (const [index, part] of parts.entries()) {
    for (const [at, { place }] of part.inputs.entries()) {
      const value = partValues[index]?.[at];
      if (value !== undefined) values[place] = value;
    }
  }
  return values;
}
