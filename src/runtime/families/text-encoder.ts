// Family `text-encoder`: one vector per text, mean-pooled and normalised by the graph. One text per run, so that a
// vector never depends on its neighbours (dynamic quantization scales by the whole run).

import type { TextEncoderManifest } from '../manifest.ts';
import type { EmbedReply, EmbedTask } from '../messages.ts';
import { floatValues, type GraphSession, int64Tensor } from '../session.ts';
import type { Tokenizer } from '../tokenizer.ts';
import { tokenizeInputs } from './embedding-tokens.ts';

export interface TextEncoderParts {
  readonly manifest: TextEncoderManifest;
  readonly tokenizer: Tokenizer;
  readonly embed: GraphSession;
}

export class TextEncoder {
  private readonly parts: TextEncoderParts;

  constructor(parts: TextEncoderParts) {
    this.parts = parts;
  }

  /** What `embed` would bill. @throws AppError context_length_exceeded, invalid_request (an id outside the vocabulary) */
  countTokens(inputs: EmbedTask['inputs']): number {
    return tokenizeInputs(inputs, this.parts).inputTokens;
  }

  /** @throws AppError context_length_exceeded, invalid_request (an id outside the vocabulary) */
  async embed(task: Omit<EmbedTask, 'kind' | 'modelId'>): Promise<EmbedReply> {
    const startedMs = performance.now();
    // All are checked before the first is run: a call that must fail costs no inference.
    const { rows, inputTokens } = tokenizeInputs(task.inputs, this.parts);
    const tokenizedMs = performance.now();
    const embeddings: (Float32Array | string)[] = [];
    for (const ids of rows) {
      const vector = resize(await this.run(ids), task.dimensions);
      embeddings.push(task.encoding === 'base64' ? toBase64(vector) : vector);
    }
    return {
      embeddings,
      inputTokens,
      tokenizeMs: tokenizedMs - startedMs,
      inferMs: performance.now() - tokenizedMs,
    };
  }

  /** @returns `[dimensions]` of the model */
  private async run(ids: Int32Array): Promise<Float32Array> {
    const { cls, sep } = this.parts.tokenizer.special;
    const row = new Int32Array(ids.length + 2);
    row[0] = cls;
    row.set(ids, 1);
    row[row.length - 1] = sep;
    const dims = [1, row.length];
    const mask = new Int32Array(row.length).fill(1);
    const outputs = await this.parts.embed.run({
      token_ids: int64Tensor(row, dims),
      attention_mask: int64Tensor(mask, dims),
    });
    return floatValues(outputs['embeddings']);
  }
}

/** The first `dimensions` numbers, normalised again. */
function resize(vector: Float32Array, dimensions: number | undefined): Float32Array {
  if (dimensions === undefined || dimensions >= vector.length) return vector;
  const head = vector.slice(0, dimensions);
  const norm = Math.sqrt(head.reduce((sum, value) => sum + value * value, 0));
  return norm === 0 ? head : head.map((value) => value / norm);
}

/** Little-endian float32, as the chat format's clients expect; the runtime library has no build for a big-endian CPU. */
function toBase64(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64');
}
