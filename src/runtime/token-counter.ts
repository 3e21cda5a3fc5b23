// Counts the tokens of a job on the thread that asks, with the code that tokenises the job in a worker. Reaches no
// graph, so that the main thread may hold it.

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

/** @returns undefined where only a worker may count: the library's tokenizers promise no time linear in the text */
export async function openTokenCounter(
  { path, manifest }: ModelFolder,
  choice?: TokenizerChoice,
): Promise<TokenCounter | undefined> {
  const tokenizer = await openTokenizer(path, choice);
  if (!isWordPiece(tokenizer)) return undefined;
  return {
    isNative: tokenizer instanceof NativeTokenizer,
    count(task) {
      if (manifest.family === 'split-encoder' && task.kind === 'count-decision') {
        const { inputTokens, stateIds, questions } = tokenizeDecision(task, { manifest, tokenizer });
        return { inputTokens, stateTokens: stateIds.length, questionTokens: questions.map(countQuestionTokens) };
      }
      if (manifest.family === 'text-encoder' && task.kind === 'count-embedding') {
        const { inputTokens } = tokenizeInputs(task.inputs, { manifest, tokenizer, longInputs: task.longInputs });
        return { inputTokens, stateTokens: 0, questionTokens: [] };
      }
      throw new Error(`${manifest.id} is no model for ${task.kind}`);
    },
  };
}
