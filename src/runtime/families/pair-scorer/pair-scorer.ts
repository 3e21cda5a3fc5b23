// Family `pair-scorer`: a pair of texts in one row, logits out: a model of entailment or a reranker. One pair per run,
// unpadded, so that a pair's logits never depend on its neighbours; on devices many, where the operator allows it. What logits
// mean is pair-readout.ts's.

import type { ScorePairsReply, TaskReply } from '../../messages.ts';
import type { EntailmentManifest, RerankerManifest } from '../../model-folder/manifest.ts';
import { floatValues, type GraphSession } from '../../session.ts';
import { countFrameIds, type Frame, type FramedRow, fillFrame } from '../../tokenizer/frames.ts';
import type { Tokenizer } from '../../tokenizer/tokenizer.ts';
import { requireFinite } from '../finite-logits.ts';
import { paddedFeeds, rowFeeds } from '../row-feeds.ts';
import { isSound, runPacked, runSoundly, type SharedRows, splitRows, toReply, valueOrError } from '../row-runs.ts';
import { type PairTexts, pairFrame, tokenizeFirst, tokenizePairs } from './pair-tokens.ts';

interface PairScorerParts<M> {
  readonly manifest: M;
  readonly tokenizer: Tokenizer;
  readonly score: GraphSession;
  /** On a device. */
  readonly rows?: SharedRows | undefined;
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
    // All are checked before the first is run: a call that must fail costs no inference.
    const { rows, ...read } = this.#readRows(task);
    const startedMs = performance.now();
    const logits: Float32Array[] = [];
    for (const row of rows) logits.push(await this.#run(row));
    return { logits, ...read, inferMs: performance.now() - startedMs };
  }

  /** How pairs of several callers are scored in one run; undefined: they are not. */
  get sharedRows(): SharedRows | undefined {
    const { rows } = this.#parts;
    return rows?.isExact ? undefined : rows;
  }

  /** Each as if by itself, within the tolerance of padding. @returns `[tasks]` */
  async scoreTogether(tasks: readonly PairTexts[], { mostTokens }: SharedRows): Promise<TaskReply[]> {
    const reads = tasks.map((task) => valueOrError(() => this.#readRows(task)));
    const startedMs = performance.now();
    const all = reads.flatMap((read) => (read instanceof Error ? [] : read.rows));
    const sizeOf = ({ ids }: FramedRow) => ids.length;
    const found = await runPacked(all, { sizeOf, mostTokens, run: (rows) => this.#runRows(rows) });
    return reads.map((each) =>
      toReply(each, ({ rows, ...read }) => {
        const logits = rows.map((row) => requireFinite(found.take(row), this.#labels));
        return { logits, ...read, inferMs: performance.now() - startedMs };
      }),
    );
  }

  /** @throws AppError context_length_exceeded */
  #readRows(task: PairTexts) {
    const startedMs = performance.now();
    const { first, seconds, inputTokens } = tokenizePairs(task, this.#parts, this.#readFirst(task.first));
    return {
      rows: seconds.map(({ ids }) => fillFrame(this.#frame, first, ids)),
      inputTokens,
      truncated: seconds.filter(({ isTruncated }) => isTruncated).map(({ place }) => place),
      tokenizeMs: performance.now() - startedMs,
    };
  }

  /** The parts of one job come one after the other and bring the same first text. */
  #readFirst(text: string): Int32Array {
    if (this.#lastFirst?.text !== text) this.#lastFirst = { text, ids: tokenizeFirst(text, this.#parts) };
    return this.#lastFirst.ids;
  }

  /** @returns `[labels]` */
  async #run(row: FramedRow): Promise<Float32Array> {
    const [logits] = await this.#runRows([row]);
    return requireFinite(logits ?? new Float32Array(), this.#labels);
  }

  /** @returns `[rows]`, each `[labels]` */
  async #runRows(rows: readonly FramedRow[]): Promise<Float32Array[]> {
    const { score, rows: shared } = this.#parts;
    const run = (session: GraphSession, some: readonly FramedRow[]) => this.#score(session, some);
    return await runSoundly(rows, { session: score, precise: shared?.precise, run, isSound });
  }

  async #score(session: GraphSession, rows: readonly FramedRow[]): Promise<Float32Array[]> {
    const { graph_io: graphIo } = this.manifest;
    const [row] = rows;
    const feeds = rows.length === 1 && row !== undefined ? rowFeeds(graphIo, row) : paddedFeeds(graphIo, rows);
    return splitRows(floatValues((await session.run(feeds, [graphIo.output]))[graphIo.output]), rows.length);
  }
}
