// Which questions of a decision go together to a device: as many as one run takes beside their document, so that a decision of many
// about a long document lets others through between its slices. Pure.

import { ROWS_BESIDE_LONG, rowsOfRun } from '../../runtime/families/split-encoder/decision-rows.ts';

export interface SlicedSize {
  /** Specials included. */
  readonly stateTokens: number;
  /** `[questions]`: tokens of each row beside it. At least one. */
  readonly questionTokens: readonly number[];
  /** Of one run, padding included. */
  readonly runTokens: number;
  /** Each question has a run of its own: the document is read for each. */
  readonly isExact: boolean;
}

export interface QuestionSlice {
  /** Places of its questions, ascending, after those of the slice before it. */
  readonly places: readonly number[];
  /** With the document. */
  readonly tokens: number;
}

/** @returns at least one slice, none of them empty */
export function sliceForDevice({ stateTokens, questionTokens, runTokens, isExact }: SlicedSize): QuestionSlice[] {
  const mostRows = isExact
    ? Math.max(1, Math.floor(runTokens / Math.max(1, stateTokens)))
    : rowsOfRun(stateTokens, runTokens);
  const room = Math.max(runTokens - stateTokens, runTokens * ROWS_BESIDE_LONG);
  const slices: { places: number[]; tokens: number }[] = [];
  let taken = 0;
  for (const [place, tokens] of questionTokens.entries()) {
    const slice = slices.at(-1);
    if (slice === undefined || slice.places.length >= mostRows || taken + tokens > room) {
      slices.push({ places: [place], tokens: stateTokens + tokens });
      taken = tokens;
    } else {
      slice.places.push(place);
      slice.tokens += tokens + (isExact ? stateTokens : 0);
      taken += tokens;
    }
  }
  return slices;
}
