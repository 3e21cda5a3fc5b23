// Family `text-encoder`: one vector per text, mean-pooled and normalised by the graph. One text, or one window of it, per
// run, so that a vector never depends on its neighbours (dynamic quantization scales by the whole run).

import type { EmbeddedWindows, EmbedReply, EmbedTask } from '../../messages.ts';
import type { TextEncoderManifest } from '../../model-folder/manifest.ts';
import { floatValues, type GraphSession, int64Tensor } from '../../session.ts';
import type { Tokenizer } from '../../tokenizer/tokenizer.ts';
import { tokenizeInputs } from './embedding-tokens.ts';
import { finishVector, meanOfWindows } from './embedding-vector.ts';

interface TextEncoderParts {
  readonly manifest: TextEncoderManifest;
  readonly tokenizer: Tokenizer;
  readonly embed: GraphSession;
}

export class TextEncoder {
  readonly #parts: TextEncoderParts;
  #last: { readonly text: string; readonly limit: number | undefined; readonly ids: Int32Array } | undefined;

  constructor(parts: TextEncoderParts) {
    this.#parts = parts;
  }

  /** What `embed` would bill. @throws AppError context_length_exceeded, invalid_request (an id outside the vocabulary) */
  countTokens({ inputs, longInputs }: Pick<EmbedTask, 'inputs' | 'longInputs'>): number {
    return tokenizeInputs(inputs, { ...this.#parts, longInputs }).inputTokens;
  }

  /** @throws AppError context_length_exceeded, invalid_request (an id outside the vocabulary) */
  async embed(task: Omit<EmbedTask, 'kind' | 'modelId'>): Promise<EmbedReply> {
    const startedMs = performance.now();
    // All are checked before the first is run: a call that must fail costs no inference.
    const { rows, inputTokens } = tokenizeInputs(task.inputs, {
      ...this.#parts,
      longInputs: task.longInputs,
      encodeShared: (text, limit) => this.#encodeShared(text, limit),
    });
    const tokenizedMs = performance.now();
    const embeddings: EmbedReply['embeddings'][number][] = [];
    for (const [at, { windows }] of rows.entries()) {
      const read = await this.#read(windows);
      embeddings.push(task.inputs[at]?.share === undefined ? finishVector(meanOfWindows(read), task) : read);
    }
    return {
      embeddings,
      inputTokens,
      truncated: rows.filter(({ isTruncated }) => isTruncated).map(({ place }) => place),
      tokenizeMs: tokenizedMs - startedMs,
      inferMs: performance.now() - tokenizedMs,
    };
  }

  /** One window after the other: none depends on its neighbours. */
  async #read(windows: readonly Int32Array[]): Promise<EmbeddedWindows> {
    const vectors: Float32Array[] = [];
    for (const ids of windows) vectors.push(await this.#run(ids));
    return { vectors, tokens: windows.map(({ length }) => length) };
  }

  /** Shares of a text mostly come one after the other: it is tokenised for the first of them. */
  #encodeShared(text: string, limit: number | undefined): Int32Array {
    if (this.#last?.text !== text || this.#last.limit !== limit) {
      this.#last = { text, limit, ids: this.#parts.tokenizer.encode(text, limit) };
    }
    return this.#last.ids;
  }

  /** @returns `[dimensions]` of the model */
  async #run(ids: Int32Array): Promise<Float32Array> {
    const { cls, sep } = this.#parts.tokenizer.special;
    const row = new Int32Array(ids.length + 2);
    row[0] = cls;
    row.set(ids, 1);
    row[row.length - 1] = sep;
    const dims = [1, row.length];
    const mask = new Int32Array(row.length).fill(1);
    const outputs = await this.#parts.embed.run({
      token_ids: int64Tensor(row, dims),
      attention_mask: int64Tensor(mask, dims),
    });
    return floatValues(outputs['embeddings']);
  }
}
