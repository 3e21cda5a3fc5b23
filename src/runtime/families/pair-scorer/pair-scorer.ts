// Family `pair-scorer`: a pair of texts in one row, logits out: a model of entailment or a reranker. One pair per run,
// unpadded, so that a pair's logits never depend on its neighbours. What logits mean is pair-readout.ts's.

import type { ScorePairsReply } from '../../messages.ts';
import type { EntailmentManifest, RerankerManifest } from '../../model-folder/manifest.ts';
import { floatValues, type GraphSession } from '../../session.ts';
import { countFrameIds, type Frame, fillFrame } from '../../tokenizer/frames.ts';
import type { Tokenizer } from '../../tokenizer/tokenizer.ts';
import { requireFinite } from '../finite-logits.ts';
import { rowFeeds } from '../row-feeds.ts';
import { type PairTexts, pairFrame, tokenizeFirst, tokenizePairs } from './pair-tokens.ts';

interface PairScorerParts<M> {
  readonly manifest: M;
  readonly tokenizer: Tokenizer;
  readonly score: GraphSession;
}

export class PairScorer<M extends EntailmentManifest | RerankerManifest = EntailmentManifest | RerankerManifest> {
  readonly manifest: M;
  readonly #frame: Frame;
  readonly #parts: PairScorerParts<M>;
  readonly #labels: number;
  #lastFirst: { readonly text: string; readonly ids: Int32Array } | undefined;

  /** @throws Error where the tokenizer does not say how a pair is put together */
  constructor(parts: PairScorerParts<M>) {
    this.manifest = parts.manifest;
    this.#frame = pairFrame(parts);
    this.#parts = parts;
    this.#labels = parts.manifest.type === 'decision' ? parts.manifest.labels.count : 1;
  }

  /** What `scorePairs` would bill. @throws AppError context_length_exceeded */
  countTokens(task: PairTexts): number {
    return tokenizePairs(task, this.#parts, this.#readFirst(task.first)).inputTokens;
  }

  /** `[pairs]`: tokens of each row, specials included. @throws AppError context_length_exceeded */
  rowLengths(task: PairTexts): number[] {
    const { first, seconds } = tokenizePairs(task, this.#parts, this.#readFirst(task.first));
    return seconds.map(({ ids }) => countFrameIds(this.#frame) + first.length + ids.length);
  }

  /** @throws AppError context_length_exceeded */
  async scorePairs(task: PairTexts): Promise<ScorePairsReply> {
    const startedMs = performance.now();
    // All are checked before the first is run: a call that must fail costs no inference.
    const { first, seconds, inputTokens } = tokenizePairs(task, this.#parts, this.#readFirst(task.first));
    const tokenizedMs = performance.now();
    const logits: Float32Array[] = [];
    for (const { ids } of seconds) logits.push(await this.#run(first, ids));
    return {
      logits,
      inputTokens,
      truncated: seconds.filter(({ isTruncated }) => isTruncated).map(({ place }) => place),
      tokenizeMs: tokenizedMs - startedMs,
      inferMs: performance.now() - tokenizedMs,
    };
  }

  /** The parts of one job come one after the other and bring the same first text. */
  #readFirst(text: string): Int32Array {
    if (this.#lastFirst?.text !== text) this.#lastFirst = { text, ids: tokenizeFirst(text, this.#parts) };
    return this.#lastFirst.ids;
  }

  /** @returns `[labels]` */
  async #run(first: Int32Array, second: Int32Array): Promise<Float32Array> {
    const { graph_io: graphIo } = this.manifest;
    const outputs = await this.#parts.score.run(rowFeeds(graphIo, fillFrame(this.#frame, first, second)), [
      graphIo.output,
    ]);
    return requireFinite(floatValues(outputs[graphIo.output]), this.#labels);
  }
}
