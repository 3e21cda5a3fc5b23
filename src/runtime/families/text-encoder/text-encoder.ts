// Family `text-encoder`: one vector per text, of length 1. One text, or one window of it, per run, so that a vector never
// depends on its neighbours (dynamic quantization scales by the whole run).

import type { EmbeddedWindows, EmbedReply, EmbedTask } from '../../messages.ts';
import type { TextEncoderManifest } from '../../model-folder/manifest.ts';
import { floatValues, type GraphSession } from '../../session.ts';
import { countFrameIds, type Frame, fillFrame } from '../../tokenizer/frames.ts';
import type { Tokenizer } from '../../tokenizer/tokenizer.ts';
import { rowFeeds } from '../row-feeds.ts';
import { type EmbeddingWindow, tokenizeInputs, windowTokens } from './embedding-tokens.ts';
import { finishVector, meanOfWindows } from './embedding-vector.ts';
import { poolRow } from './pooling.ts';

interface TextEncoderParts {
  readonly manifest: TextEncoderManifest;
  readonly tokenizer: Tokenizer;
  readonly embed: GraphSession;
}

export class TextEncoder {
  readonly frame: Frame;
  readonly #parts: TextEncoderParts;
  /** Of every row: specials before the first token of a text. */
  readonly #leadingIds: number;
  #last: { readonly text: string; readonly limit: number | undefined; readonly ids: Int32Array } | undefined;

  /** @throws Error when a prompt leaves no room for a text */
  constructor(parts: TextEncoderParts) {
    requireRoomBesidePrompts(parts);
    this.#parts = parts;
    this.frame = parts.tokenizer.frames.single;
    this.#leadingIds = countFrameIds(
      this.frame.slice(
        0,
        this.frame.findIndex((part) => 'text' in part),
      ),
    );
  }

  /** What `embed` would bill. @throws AppError context_length_exceeded, invalid_request (an id outside the vocabulary) */
  countTokens({ inputs, longInputs, prompt }: Pick<EmbedTask, 'inputs' | 'longInputs' | 'prompt'>): number {
    return tokenizeInputs(inputs, { ...this.#parts, longInputs, prompt }).inputTokens;
  }

  /** @throws AppError context_length_exceeded, invalid_request (an id outside the vocabulary) */
  async embed(task: Omit<EmbedTask, 'kind' | 'modelId'>): Promise<EmbedReply> {
    const startedMs = performance.now();
    // All are checked before the first is run: a call that must fail costs no inference.
    const { rows, inputTokens } = tokenizeInputs(task.inputs, {
      ...this.#parts,
      longInputs: task.longInputs,
      prompt: task.prompt,
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
  async #read(windows: readonly EmbeddingWindow[]): Promise<EmbeddedWindows> {
    const vectors: Float32Array[] = [];
    for (const window of windows) vectors.push(await this.#run(window));
    return { vectors, tokens: windows.map(({ ids, promptTokens }) => ids.length - promptTokens) };
  }

  /** Shares of a text mostly come one after the other: it is tokenised for the first of them. */
  #encodeShared(text: string, limit: number | undefined): Int32Array {
    if (this.#last?.text !== text || this.#last.limit !== limit) {
      this.#last = { text, limit, ids: this.#parts.tokenizer.encode(text, limit) };
    }
    return this.#last.ids;
  }

  /** @returns `[dimensions]` of the model */
  async #run({ ids, promptTokens }: EmbeddingWindow): Promise<Float32Array> {
    const { manifest, embed } = this.#parts;
    const { graph_io: graphIo } = manifest;
    const { output } = graphIo;
    const row = fillFrame(this.frame, ids);
    const outputs = await embed.run(rowFeeds(graphIo, row), [output]);
    const values = floatValues(outputs[output]);
    const isWhole = manifest.include_prompt || promptTokens === 0;
    const from = isWhole ? 0 : this.#leadingIds + promptTokens;
    return poolRow({ values, dims: outputs[output]?.dims ?? [] }, { size: row.ids.length, from }, manifest);
  }
}

/** Every window of a long text begins with the prompt: of more than half a window, it would cost more than the text. */
function requireRoomBesidePrompts({ manifest, tokenizer }: TextEncoderParts): void {
  const window = windowTokens(manifest, tokenizer.frames);
  for (const [name, prompt] of Object.entries(manifest.prompts)) {
    const tokens = tokenizer.encode(prompt).length;
    if (2 * tokens > window)
      throw new Error(`the prompt ${name} has ${tokens} tokens; at most half of ${window} may be prompt`);
  }
}
