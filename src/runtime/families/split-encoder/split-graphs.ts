// The graphs of a split encoder, run by run: a window to keys and values, a question against them to logits, or both in
// one run, with the same bits. What is run, and whose memory it takes, is split-encoder.ts's.

import type { QuestionType } from '../../../domain/question.ts';
import type { SplitEncoderManifest } from '../../model-folder/manifest.ts';
import { floatTensor, floatValues, type GraphSession, int64Tensor, type Tensor } from '../../session.ts';
import type { KeyValues } from './key-values.ts';
import type { Chunk, PreparedQuestion } from './prompt.ts';
import { OptionPool } from './readout.ts';
import type { Window } from './windows.ts';

const TYPE_NUMBER: Readonly<Record<QuestionType, number>> = { choice: 0, noul: 1, score: 2 };

/** What the graphs call a type of question. */
export function typeNumber(type: QuestionType): number {
  return TYPE_NUMBER[type];
}

/** A document of one window, and a question about it that one run may answer. */
export interface WindowQuestion {
  readonly window: Window;
  readonly question: PreparedQuestion;
}

/** Of some chunks of a question. */
export interface PieceVectors {
  /** `[chunks][pieces × hidden]` */
  readonly vectors: readonly Float32Array[];
  /** Of the first chunk; undefined: the graph gives none, or there is no chunk. */
  readonly view: Float32Array | undefined;
}

/** What one run says of a window. */
interface WindowAnswer {
  /** As `logitsOf` gives them. */
  readonly logits: Float32Array;
  /** undefined: the graph gives none, or it was not wanted. */
  readonly view: Float32Array | undefined;
}

/**
 * The output that says what a question saw in the document: the mean of the last states of its instructions, `[hidden]`.
 * Options have no part in it. Graphs of earlier packages lack it.
 */
const VIEW = 'view';

/** Up to so many branch tokens a run of all three is worth it, and takes little memory. */
const ONE_RUN_TOKENS = 128;

export interface SplitSessions {
  readonly encode: GraphSession;
  readonly answer: GraphSession;
  readonly head: GraphSession;
  /** The three in one, for a document of one window. */
  readonly decide?: GraphSession | undefined;
}

export class SplitGraphs {
  readonly #shape: SplitEncoderManifest['shape'];
  readonly #sessions: SplitSessions;
  /** Of `encode`'s outputs and `answer`'s inputs, in the order of `KeyValues.parts`. */
  readonly #keyValueNames: readonly string[];

  constructor(shape: SplitEncoderManifest['shape'], sessions: SplitSessions) {
    [this.#shape, this.#sessions] = [shape, sessions];
    const layers = Array.from({ length: shape.layers }, (_, layer) => layer);
    this.#keyValueNames = layers.flatMap((layer) => [`key_${layer}`, `value_${layer}`]);
  }

  /** One window to a run, unpadded: dynamic quantization scales by the whole run. @returns the caller's, to be freed */
  async encodeWindow(window: Window): Promise<KeyValues> {
    const outputs = await this.#sessions.encode.run(windowFeeds(window));
    return { tokens: window.ids.length, parts: this.#keyValueNames.map((name) => floatValues(outputs[name])) };
  }

  /** The same, written where it is wanted. @param target of as many tokens as the window has */
  encodeWindowInto(window: Window, target: KeyValues): Promise<void> {
    return this.#sessions.encode.runInto(windowFeeds(window), this.#keyValueTensors(target));
  }

  /** One run per chunk. */
  async pieceVectors(chunks: readonly Chunk[], keyValues: KeyValues): Promise<PieceVectors> {
    const feeds = this.#keyValueTensors(keyValues);
    const vectors: Float32Array[] = [];
    let view: Float32Array | undefined;
    for (const chunk of chunks) {
      const outputs = await this.#sessions.answer.run({ ...feeds, ...chunkFeeds(chunk) });
      vectors.push(floatValues(outputs['piece_vectors']));
      view ??= outputs[VIEW] && floatValues(outputs[VIEW]);
    }
    return { vectors, view };
  }

  /** @param pieceVectors of all chunks of the question @returns logits `[options]`, in the model's order */
  async logitsOf(question: PreparedQuestion, pieceVectors: readonly Float32Array[]): Promise<Float32Array> {
    const count = question.order.length;
    const pool = new OptionPool(count);
    for (const [place, chunk] of question.chunks.entries()) pool.add(chunk, pieceVectors[place] ?? new Float32Array());
    const vectors = pool.vectors();
    const outputs = await this.#sessions.head.run({
      option_vectors: floatTensor(vectors, [1, count, vectors.length / count]),
      ...questionFeeds(question),
    });
    return floatValues(outputs['logits']);
  }

  /** Whether `decideWindow` takes this question: short, in one chunk, one piece per option. */
  canDecideWindow({ windows, chunks, order }: PreparedQuestion): boolean {
    const [chunk] = chunks;
    if (this.#sessions.decide === undefined || windows.length > 0 || chunks.length !== 1) return false;
    return chunk?.options.length === order.length && chunk.tokenIds.length <= ONE_RUN_TOKENS;
  }

  /**
   * The only window of a document and a question about it in one run.
   * @param target for the window's keys and values
   */
  async decideWindow(asked: WindowQuestion, target: KeyValues): Promise<WindowAnswer> {
    const { decide, feeds } = this.#feedOneRun(asked);
    const logits = new Float32Array(asked.question.order.length);
    const view = decide.outputs.includes(VIEW) ? new Float32Array(this.#hidden) : undefined;
    await decide.runInto(feeds, {
      ...this.#keyValueTensors(target),
      logits: floatTensor(logits, [1, logits.length]),
      ...(view && { [VIEW]: floatTensor(view, [1, view.length]) }),
    });
    return { logits, view };
  }

  /**
   * The same of a document that nobody will ask about again: its keys and values are not written.
   * @param wantsVectors whether the last layer's values are given all the same: the caller's, to be freed
   */
  async decidePassing(
    asked: WindowQuestion,
    wantsVectors: boolean,
  ): Promise<WindowAnswer & { readonly lastValues: Float32Array | undefined }> {
    const { decide, feeds } = this.#feedOneRun(asked);
    const last = this.#keyValueNames.at(-1) ?? '';
    const vectors = wantsVectors ? decide.outputs.filter((name) => name === last || name === VIEW) : [];
    const outputs = await decide.run(feeds, ['logits', ...vectors]);
    const lastValues = outputs[last] && floatValues(outputs[last]);
    return { logits: floatValues(outputs['logits']), view: outputs[VIEW] && floatValues(outputs[VIEW]), lastValues };
  }

  #feedOneRun({ window, question }: WindowQuestion): { decide: GraphSession; feeds: Record<string, Tensor> } {
    const { decide } = this.#sessions;
    const [chunk] = question.chunks;
    if (decide === undefined || chunk === undefined) throw new Error('not a question for one run');
    const stateIds = int64Tensor(window.ids, [1, window.ids.length]);
    return { decide, feeds: { state_ids: stateIds, ...chunkFeeds(chunk), ...questionFeeds(question) } };
  }

  /** Whether runs take memory that other threads see: with older Nodes the library refuses it. */
  async readsSharedMemory(): Promise<boolean> {
    const hidden = this.#hidden;
    const shared = new Float32Array(new SharedArrayBuffer(2 * hidden * Float32Array.BYTES_PER_ELEMENT));
    const question = questionFeeds({ type: 'noul', levels: [0, 0] });
    try {
      await this.#sessions.head.run({ option_vectors: floatTensor(shared, [1, 2, hidden]), ...question });
      return true;
    } catch {
      return false;
    }
  }

  get #hidden(): number {
    return this.#shape.heads * this.#shape.head_size;
  }

  #keyValueTensors({ tokens, parts }: KeyValues): Record<string, Tensor> {
    const dims = [1, this.#shape.heads, tokens, this.#shape.head_size];
    const named = this.#keyValueNames.map((name, index) => [name, parts[index] ?? new Float32Array()] as const);
    return Object.fromEntries(named.map(([name, part]) => [name, floatTensor(part, dims)]));
  }
}

function windowFeeds({ ids, segment, index }: Window): Record<string, Tensor> {
  return {
    token_ids: int64Tensor(ids, [1, ids.length]),
    segment: int64Tensor([segment], [1]),
    window_index: int64Tensor([index], [1]),
  };
}

function questionFeeds({ type, levels }: Pick<PreparedQuestion, 'type' | 'levels'>): Record<string, Tensor> {
  return {
    question_type: int64Tensor([typeNumber(type)], [1]),
    levels: int64Tensor(levels, [1, levels.length]),
  };
}

function chunkFeeds({ tokenIds, positions, branch, options }: Chunk): Record<string, Tensor> {
  const dims = [1, tokenIds.length];
  const pieces = options.map((_, piece) => piece + 1);
  return {
    token_ids: int64Tensor(tokenIds, dims),
    positions: int64Tensor(positions, dims),
    branch: int64Tensor(branch, dims),
    pieces: int64Tensor(pieces, [pieces.length]),
  };
}
