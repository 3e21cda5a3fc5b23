// Family `text-encoder`: one vector per text, of length 1. One text, or one window of it, per run, so that a vector never
// depends on its neighbours (dynamic quantization scales by the whole run); on devices many, where the operator allows it.

import type { EmbeddedWindows, EmbedReply, EmbedTask, TaskReply } from '../../messages.ts';
import type { TextEncoderManifest } from '../../model-folder/manifest.ts';
import { floatValues, type GraphSession } from '../../session.ts';
import { countFrameIds, type Frame, type FramedRow, fillFrame } from '../../tokenizer/frames.ts';
import type { Tokenizer } from '../../tokenizer/tokenizer.ts';
import { paddedFeeds, rowFeeds } from '../row-feeds.ts';
import { runPacked, runSoundly, type SharedRows, toReply, valueOrError } from '../row-runs.ts';
import { type EmbeddingTokens, type EmbeddingWindow, tokenizeInputs, windowTokens } from './embedding-tokens.ts';
import { finishVector, meanOfWindows } from './embedding-vector.ts';
import { poolRow, type RowOutput } from './pooling.ts';

interface TextEncoderParts {
  readonly manifest: TextEncoderManifest;
  readonly tokenizer: Tokenizer;
  readonly embed: GraphSession;
  /** On a device. */
  readonly rows?: SharedRows | undefined;
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
    const tokens = this.#tokenize(task);
    const tokenizedMs = performance.now();
    const embeddings: EmbedReply['embeddings'][number][] = [];
    for (const [at, { windows }] of tokens.rows.entries()) {
      embeddings.push(this.#finish(task, at, await this.#read(windows)));
    }
    return {
      embeddings,
      ...summary(tokens),
      tokenizeMs: tokenizedMs - startedMs,
      inferMs: performance.now() - tokenizedMs,
    };
  }

  /** How rows of several callers are read in one run; undefined: they are not. */
  get sharedRows(): SharedRows | undefined {
    const { rows } = this.#parts;
    return rows?.isExact ? undefined : rows;
  }

  /** Each as if by itself, within the tolerance of padding. @returns `[tasks]` */
  async embedTogether(
    tasks: readonly Omit<EmbedTask, 'kind' | 'modelId'>[],
    { mostTokens }: SharedRows,
  ): Promise<TaskReply[]> {
    const reads = tasks.map((task) => valueOrError(() => this.#readRowsOf(task)));
    const startedMs = performance.now();
    const rows = reads.flatMap((read) => (read instanceof Error ? [] : read.rows.flat()));
    const sizeOf = ({ row }: WindowRow) => row.ids.length;
    const found = await runPacked(rows, { sizeOf, mostTokens, run: (some) => this.#runRows(some) });
    return reads.map((each) =>
      toReply(each, ({ task, tokens, rows: ofInputs, ms }) => {
        const embeddings = ofInputs.map((ofInput, at) => {
          const vectors = ofInput.map((row) => found.take(row));
          return this.#finish(task, at, { vectors, tokens: ofInput.map(({ window }) => contentTokens(window)) });
        });
        return { embeddings, ...summary(tokens), tokenizeMs: ms, inferMs: performance.now() - startedMs };
      }),
    );
  }

  /** One window after the other: none depends on its neighbours. */
  async #read(windows: readonly EmbeddingWindow[]): Promise<EmbeddedWindows> {
    const vectors: Float32Array[] = [];
    for (const window of windows) vectors.push(await this.#run(window));
    return { vectors, tokens: windows.map(contentTokens) };
  }

  #readRowsOf(task: Omit<EmbedTask, 'kind' | 'modelId'>) {
    const startedMs = performance.now();
    const tokens = this.#tokenize(task);
    const rows = tokens.rows.map(({ windows }) => windows.map((window) => this.#frameRow(window)));
    return { task, tokens, rows, ms: performance.now() - startedMs };
  }

  #tokenize({ inputs, longInputs, prompt }: Omit<EmbedTask, 'kind' | 'modelId'>): EmbeddingTokens {
    return tokenizeInputs(inputs, {
      ...this.#parts,
      longInputs,
      prompt,
      encodeShared: (text, limit) => this.#encodeShared(text, limit),
    });
  }

  #finish(
    task: Omit<EmbedTask, 'kind' | 'modelId'>,
    at: number,
    read: EmbeddedWindows,
  ): EmbedReply['embeddings'][number] {
    return task.inputs[at]?.share === undefined ? finishVector(meanOfWindows(read), task) : read;
  }

  /** Shares of a text mostly come one after the other: it is tokenised for the first of them. */
  #encodeShared(text: string, limit: number | undefined): Int32Array {
    if (this.#last?.text !== text || this.#last.limit !== limit) {
      this.#last = { text, limit, ids: this.#parts.tokenizer.encode(text, limit) };
    }
    return this.#last.ids;
  }

  /** @returns `[dimensions]` of the model */
  async #run(window: EmbeddingWindow): Promise<Float32Array> {
    const { manifest, embed, rows } = this.#parts;
    const framed = this.#frameRow(window);
    if (rows !== undefined) {
      const [vector] = await this.#runRows([framed]);
      return vector ?? new Float32Array();
    }
    const { graph_io: graphIo } = manifest;
    const { output } = graphIo;
    const { row, from } = framed;
    const outputs = await embed.run(rowFeeds(graphIo, row), [output]);
    const values = floatValues(outputs[output]);
    return poolRow({ values, dims: outputs[output]?.dims ?? [] }, { size: row.ids.length, from }, manifest);
  }

  /** @returns `[rows]`, each `[dimensions]` of the model */
  async #runRows(rows: readonly WindowRow[]): Promise<Float32Array[]> {
    const { embed, manifest, rows: shared } = this.#parts;
    const read = await runSoundly(rows, {
      session: embed,
      precise: shared?.precise,
      run: (session, some) => this.#readRows(session, some),
      isSound: ({ output }) => output.values.every(Number.isFinite),
    });
    return rows.map(({ from }, place) => {
      const found = read[place];
      if (found === undefined) throw new Error('a row was left out of a run');
      return poolRow(found.output, { size: found.size, from }, manifest);
    });
  }

  async #readRows(session: GraphSession, rows: readonly WindowRow[]): Promise<{ output: RowOutput; size: number }[]> {
    const { graph_io: graphIo } = this.#parts.manifest;
    const framed = rows.map(({ row }) => row);
    const tensor = (await session.run(paddedFeeds(graphIo, framed), [graphIo.output]))[graphIo.output];
    const [values, [count, ...dims]] = [floatValues(tensor), tensor?.dims ?? []];
    if (count !== rows.length) throw new Error(`the graph gave ${count} rows where ${rows.length} were due`);
    const length = values.length / rows.length;
    return framed.map(({ ids }, place) => {
      const own = values.subarray(place * length, (place + 1) * length);
      // Of a graph that gives a vector for each token, the padded ones are left out.
      const [tokens = 1, width = 1] = dims.length > 1 ? dims : [1, length];
      const isPadded = dims.length > 1 && tokens > ids.length;
      const ownDims = dims.length > 1 ? [1, ids.length, width] : [1, length];
      return {
        output: { values: isPadded ? own.subarray(0, ids.length * width) : own, dims: ownDims },
        size: ids.length,
      };
    });
  }

  #frameRow(window: EmbeddingWindow): WindowRow {
    const { ids, promptTokens } = window;
    const isWhole = this.#parts.manifest.include_prompt || promptTokens === 0;
    return { window, row: fillFrame(this.frame, ids), from: isWhole ? 0 : this.#leadingIds + promptTokens };
  }
}

/** A window as the graph reads it. */
interface WindowRow {
  readonly window: EmbeddingWindow;
  readonly row: FramedRow;
  /** First of its tokens that is pooled. */
  readonly from: number;
}

function summary({ rows, inputTokens }: EmbeddingTokens): Pick<EmbedReply, 'inputTokens' | 'truncated'> {
  return { inputTokens, truncated: rows.filter(({ isTruncated }) => isTruncated).map(({ place }) => place) };
}

function contentTokens({ ids, promptTokens }: EmbeddingWindow): number {
  return ids.length - promptTokens;
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
