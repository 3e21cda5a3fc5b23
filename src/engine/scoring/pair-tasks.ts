// Jobs over pairs with one text in common, as tasks: that text and some of the others. Pure.

import type { CountPairsTask, PairItem, ScorePairsTask } from '../../runtime/messages.ts';
import { countLetters } from '../cost/token-ratio.ts';
import type { CountedTask } from './row-job.ts';

/** A tenth of what is read ahead of other work: the text in common is read again for each task. */
const COUNTED_CHARACTERS = 100_000;

export interface Pairs {
  readonly modelId: string;
  readonly first: string;
  /** `[rows]` */
  readonly seconds: readonly PairItem[];
  readonly truncate: boolean;
}

/** `[rows]` */
export function lettersOfPairs({ first, seconds }: Pairs): number[] {
  const letters = countLetters(first);
  return seconds.map(({ second }) => letters + countLetters(second));
}

export function scorePairs({ modelId, first, seconds, truncate }: Pairs, rows: readonly number[]): ScorePairsTask {
  const pairs = rows.flatMap((row) => seconds[row] ?? []);
  return { kind: 'score-pairs', modelId, first, pairs, truncate };
}

export function countPairs({ modelId, first, seconds, truncate }: Pairs): CountedTask[] {
  const chunks: { pairs: PairItem[]; characters: number }[] = [];
  for (const item of seconds) {
    let chunk = chunks.at(-1);
    if (chunk === undefined || chunk.characters + item.second.length > COUNTED_CHARACTERS) {
      chunk = { pairs: [], characters: 0 };
      chunks.push(chunk);
    }
    chunk.pairs.push(item);
    chunk.characters += item.second.length;
  }
  return chunks.map(({ pairs, characters }) => {
    const task: CountPairsTask = { kind: 'count-pairs', modelId, first, pairs, truncate };
    return { task, characters: first.length + characters };
  });
}
