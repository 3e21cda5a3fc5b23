// Counts the tokens of a job on the thread that asks, with the code that tokenises the job in a worker. Reaches no
// graph, so that the main thread may hold it.

import { sum } from '../domain/sum.ts';
import { readMarkerRows } from './families/marker-encoder/marker-tokens.ts';
import { tokenizePairs } from './families/pair-scorer/pair-tokens.ts';
import { tokenizeDecision } from './families/split-encoder/decision-tokens.ts';
import { countQuestionTokens } from './families/split-encoder/prompt.ts';
import { tokenizeInputs } from './families/text-encoder/embedding-tokens.ts';
import type { CountTask } from './messages.ts';
import type { ModelFolder } from './model-folder/manifest.ts';
import { NativeTokenizer } from './tokenizer/native-tokenizer.ts';
import { openTokenizer, type TokenizerChoice } from './tokenizer/open-tokenizer.ts';
import { isWordPiece } from './tokenizer/tokenizer.ts';

/** Content tokens. */
export interface TokenCount {
  /** What the job would bill. */
  readonly inputTokens: number;
  /** Of a decision: those of its state and, `[questions]`, those of each question. */
  readonly stateTokens: number;
  readonly questionTokens: readonly number[];
}

export interface TokenCounter {
  /** A few microseconds for a page of text, whatever it says. */
  readonly isNative: boolean;
  /** @throws AppError context_length_exceeded, invalid_request */
  count(task: CountTask): TokenCount;
}

/** @returns undefined where only a worker may count: others than BERT's take up to a second for the longest body */
export async function openTokenCounter(
  { path, manifest, ...folder }: ModelFolder,
  choice?: TokenizerChoice,
): Promise<TokenCounter | undefined> {
  // Nor is it opened here: a large vocabulary takes hundreds of megabytes.
  const tokenizer = folder.isWordPiece ? await openTokenizer(path, choice) : undefined;
  if (tokenizer === undefined || !isWordPiece(tokenizer)) return undefined;
  return {
    isNative: tokenizer instanceof NativeTokenizer,
    count(task) {
      if (manifest.family === 'split-encoder' && task.kind === 'count-decision') {
        const { inputTokens, stateIds, questions } = tokenizeDecision(task, { manifest, tokenizer });
        return { inputTokens, stateTokens: stateIds.length, questionTokens: questions.map(countQuestionTokens) };
      }
      if (manifest.family === 'text-encoder' && task.kind === 'count-embedding') {
        const { inputs, longInputs, prompt } = task;
        const { inputTokens } = tokenizeInputs(inputs, { manifest, tokenizer, longInputs, prompt });
        return { inputTokens, stateTokens: 0, questionTokens: [] };
      }
      if (manifest.family === 'pair-scorer' && task.kind === 'count-pairs') {
        const { inputTokens } = tokenizePairs(task, { manifest, tokenizer });
        return { inputTokens, stateTokens: 0, questionTokens: [] };
      }
      if (manifest.family === 'marker-encoder' && task.kind === 'count-decision') {
        const rows = readMarkerRows(task, { manifest, tokenizer });
        const inputTokens = sum(rows.map(({ contentTokens }) => contentTokens));
        return { inputTokens, stateTokens: 0, questionTokens: [] };
      }
      throw new Error(`${manifest.id} is no model for ${task.kind}`);
    },
  };
}
