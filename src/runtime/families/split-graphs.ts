// The three graphs of a split encoder, run by run: a window to keys and values, a question against them to logits. What
// is run, and whose memory it takes, is split-encoder.ts's.

import type { QuestionType } from '../../domain/question.ts';
import type { SplitEncoderManifest } from '../manifest.ts';
import { floatTensor, floatValues, type GraphSession, int64Tensor, type Tensor } from '../session.ts';
import type { KeyValues } from './key-values.ts';
import type { Chunk, PreparedQuestion } from './prompt.ts';
import { OptionPool } from './readout.ts';

const TYPE_NUMBER: Readonly<Record<QuestionType, number>> = { choice: 0, noul: 1, score: 2 };

/** `[CLS] slice [SEP]` and what the graph is told of it. */
export interface Window {
  readonly ids: Int32Array;
  readonly segment: number;
  readonly index: number;
}

export class SplitGraphs {
  private readonly shape: SplitEncoderManifest['shape'];
  private readonly encode: GraphSession;
  private readonly answer: GraphSession;
  private readonly head: GraphSession;
  /** Of `encode`'s outputs and `answer`'s inputs, in the order of `KeyValues.parts`. */
  private readonly keyValueNames: readonly string[];

  constructor(
    shape: SplitEncoderManifest['shape'],
    { encode, answer, head }: Record<'encode' | 'answer' | 'head', GraphSession>,
  ) {
    this.shape = shape;
    [this.encode, this.answer, this.head] = [encode, answer, head];
    const layers = Array.from({ length: shape.layers }, (_, layer) => layer);
    this.keyValueNames = layers.flatMap((layer) => [`key_${layer}`, `value_${layer}`]);
  }

  /** One window to a run, unpadded: dynamic quantization scales by the whole run. @returns the caller's, to be freed */
  async encodeWindow(window: Window): Promise<KeyValues> {
    const outputs = await this.encode.run(windowFeeds(window));
    return { tokens: window.ids.length, parts: this.keyValueNames.map((name) => floatValues(outputs[name])) };
  }

  /** The same, written where it is wanted. @param target of as many tokens as the window has */
  encodeWindowInto(window: Window, target: KeyValues): Promise<void> {
    return this.encode.runInto(windowFeeds(window), this.keyValueTensors(target));
  }

  /** One run per chunk. @returns logits `[options]`, in the model's order */
  async questionLogits(question: PreparedQuestion, keyValues: KeyValues): Promise<Float32Array> {
    const feeds = this.keyValueTensors(keyValues);
    const count = question.order.length;
    const pool = new OptionPool(count);
    for (const chunk of question.chunks) {
      const outputs = await this.answer.run({ ...feeds, ...chunkFeeds(chunk) });
      pool.add(chunk, floatValues(outputs['piece_vectors']));
    }
    const vectors = pool.vectors();
    const outputs = await this.head.run({
      option_vectors: floatTensor(vectors, [1, count, vectors.length / count]),
      question_type: int64Tensor([TYPE_NUMBER[question.type]], [1]),
      levels: int64Tensor(question.levels, [1, count]),
    });
    return floatValues(outputs['logits']);
  }

  private keyValueTensors({ tokens, parts }: KeyValues): Record<string, Tensor> {
    const dims = [1, this.shape.heads, tokens, this.shape.head_size];
    const named = this.keyValueNames.map((name, index) => [name, parts[index] ?? new Float32Array()] as const);
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
