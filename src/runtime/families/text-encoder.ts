// Family `text-encoder`: one vector per text, mean-pooled and normalised by the graph. One text per run, so that a
// vector never depends on its neighbours (dynamic quantization scales by the whole run).

import { AppError } from '../../domain/errors.ts';
import type { TextEncoderManifest } from '../manifest.ts';
import type { EmbedReply, EmbedTask } from '../messages.ts';
import { floatValues, type GraphSession, int64Tensor } from '../session.ts';
import type { Tokenizer } from '../tokenizer.ts';

const SPECIAL_TOKENS = 2;

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

  /** @throws AppError context_length_exceeded, invalid_request (an id outside the vocabulary) */
  async embed(task: Omit<EmbedTask, 'kind' | 'modelId'>): Promise<EmbedReply> {
    const startedMs = performance.now();
    // All are checked before the first is run: a call that must fail costs no inference.
    const rows = task.inputs.map(({ place, input }) => this.toIds(input, `input[${place}]`));
    const tokenizedMs = performance.now();
    const embeddings: (Float32Array | string)[] = [];
    for (const ids of rows) {
      const vector = resize(await this.run(ids), task.dimensions);
      embeddings.push(task.encoding === 'base64' ? toBase64(vector) : vector);
    }
    return {
      embeddings,
      inputTokens: rows.reduce((sum, ids) => sum + ids.length, 0),
      tokenizeMs: tokenizedMs - startedMs,
      inferMs: performance.now() - tokenizedMs,
    };
  }

  private toIds(input: string | readonly number[], param: string): readonly number[] {
    const { manifest, tokenizer } = this.parts;
    const ids = typeof input === 'string' ? tokenizer.encode(input) : input;
    const limit = manifest.limits.input_tokens - SPECIAL_TOKENS;
    if (ids.length > limit) {
      const message = `${param} has ${ids.length} tokens; ${manifest.id} takes at most ${limit}.`;
      throw new AppError('context_length_exceeded', message, { param });
    }
    if (!ids.every((id) => Number.isInteger(id) && id >= 0 && id < tokenizer.vocabularySize)) {
      const message = `${param} has a token id outside the vocabulary of ${manifest.id} (0 to ${tokenizer.vocabularySize - 1}).`;
      throw new AppError('invalid_request', message, { param });
    }
    return ids;
  }

  /** @returns `[dimensions]` of the model */
  private async run(ids: readonly number[]): Promise<Float32Array> {
    const { cls, sep } = this.parts.tokenizer.special;
    const row = [cls, ...ids, sep];
    const dims = [1, row.length];
    const mask = row.map(() => 1);
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

/** Little-endian float32, as the chat format's clients expect. */
function toBase64(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * Float32Array.BYTES_PER_ELEMENT);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * Float32Array.BYTES_PER_ELEMENT);
  return bytes.toString('base64');
}
