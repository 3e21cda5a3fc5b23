// Family `marker-encoder`: a document and one question with all its options in one row, a marker before each option, as
// Laya's packages have it. One question per run, unpadded, so that an answer never depends on its neighbours; on devices many of
// as many options, where the operator allows it.

import type { QuestionType } from '../../../domain/question.ts';
import { sum } from '../../../domain/sum.ts';
import { softmax, temperatureOf } from '../../../domain/temperature.ts';
import type { DecideReply, TaskReply } from '../../messages.ts';
import type { MarkerEncoderManifest } from '../../model-folder/manifest.ts';
import { boolTensor, floatValues, type GraphSession, int64Tensor } from '../../session.ts';
import type { Tokenizer } from '../../tokenizer/tokenizer.ts';
import { requireFinite } from '../finite-logits.ts';
import { restoreOrder } from '../option-order.ts';
import { isSound, runPacked, runSoundly, type SharedRows, splitRows, toReply, valueOrError } from '../row-runs.ts';
import { LAYA_TYPES } from './laya-config.ts';
import {
  findMarkerIds,
  type MarkerRow,
  type MarkerTexts,
  readMarkerRows,
  tokenizeMarkerState,
} from './marker-tokens.ts';

interface MarkerEncoderParts {
  readonly manifest: MarkerEncoderManifest;
  readonly tokenizer: Tokenizer;
  readonly score: GraphSession;
  /** On a device. */
  readonly rows?: SharedRows | undefined;
}

/** A question as the graph reads it. */
interface AskedRow extends MarkerRow {
  readonly type: QuestionType;
}

/** The exported graph compares its two best options: it cannot run with one column. */
const LEAST_COLUMNS = 2;

export class MarkerEncoder {
  readonly #parts: MarkerEncoderParts;
  #lastState: { readonly text: string; readonly ids: Int32Array } | undefined;

  /** @throws Error where tokenizer.json lacks a token that the manifest names */
  constructor(parts: MarkerEncoderParts) {
    findMarkerIds(parts);
    this.#parts = parts;
  }

  /** What `decide` would bill. @throws AppError context_length_exceeded */
  countTokens(texts: MarkerTexts): number {
    return countContent(this.readRows(texts));
  }

  /** `[questions]` @throws AppError context_length_exceeded */
  readRows(texts: MarkerTexts): MarkerRow[] {
    return readMarkerRows(texts, this.#parts, this.#readState(texts.state));
  }

  /** @throws AppError context_length_exceeded */
  async decide(task: MarkerTexts): Promise<DecideReply> {
    // All are checked before the first is run: a call that must fail costs no inference.
    const { rows, ...read } = this.#readAsked(task);
    const startedMs = performance.now();
    const probabilities: number[][] = [];
    for (const row of rows) {
      const [logits = new Float32Array()] = await this.#runRows([row]);
      probabilities.push(this.#readOut(row, logits));
    }
    return { probabilities, ...read, inferMs: performance.now() - startedMs };
  }

  /** How questions of several callers are answered in one run; undefined: they are not. */
  get sharedRows(): SharedRows | undefined {
    const { rows } = this.#parts;
    return rows?.isExact ? undefined : rows;
  }

  /** Each as if by itself, within the tolerance of padding. @returns `[tasks]` */
  async decideTogether(tasks: readonly MarkerTexts[], { mostTokens }: SharedRows): Promise<TaskReply[]> {
    const reads = tasks.map((task) => valueOrError(() => this.#readAsked(task)));
    const startedMs = performance.now();
    const all = reads.flatMap((read) => (read instanceof Error ? [] : read.rows));
    const found = new Map<AskedRow, Float32Array | Error>();
    for (const rows of Map.groupBy(all, ({ markers }) => markers.length).values()) {
      const sizeOf = ({ ids }: AskedRow) => ids.length;
      const packed = await runPacked(rows, { sizeOf, mostTokens, run: (some) => this.#runRows(some) });
      for (const row of rows)
        found.set(
          row,
          valueOrError(() => packed.take(row)),
        );
    }
    return reads.map((each) =>
      toReply(each, ({ rows, ...read }) => {
        const probabilities = rows.map((row) => {
          const logits = found.get(row) ?? new Error('a question was left out of a run');
          if (logits instanceof Error) throw logits;
          return this.#readOut(row, logits);
        });
        return { probabilities, ...read, inferMs: performance.now() - startedMs };
      }),
    );
  }

  /** @throws AppError context_length_exceeded */
  #readAsked(task: MarkerTexts) {
    const startedMs = performance.now();
    const rows = this.readRows(task).map((row, place): AskedRow => {
      return { ...row, type: task.questions[place]?.type ?? 'choice' };
    });
    return {
      rows,
      inputTokens: countContent(rows),
      stateTokens: this.#readState(task.state).length,
      keptTokens: 0,
      isKept: false,
      tokenizeMs: performance.now() - startedMs,
    };
  }

  /** The questions of one job come one after the other and bring the same state. */
  #readState(text: string): Int32Array {
    if (this.#lastState?.text !== text) this.#lastState = { text, ids: tokenizeMarkerState(text, this.#parts) };
    return this.#lastState.ids;
  }

  /** @returns `[options]`, in the order of the request */
  #readOut({ markers, order, type }: AskedRow, found: Float32Array): number[] {
    const columns = Math.max(LEAST_COLUMNS, markers.length);
    const logits = requireFinite(found, columns).subarray(0, markers.length);
    const temperature = temperatureOf(this.#parts.manifest.temperatures, type, markers.length);
    return restoreOrder(softmax(logits, temperature), order);
  }

  /** @param rows of as many options each @returns `[rows]`, each `[columns]` */
  async #runRows(rows: readonly AskedRow[]): Promise<Float32Array[]> {
    const { score, rows: shared } = this.#parts;
    return await runSoundly(rows, { session: score, precise: shared?.precise, run: scoreRows, isSound });
  }
}

async function scoreRows(session: GraphSession, rows: readonly AskedRow[]): Promise<Float32Array[]> {
  const options = rows[0]?.markers.length ?? 0;
  const columns = Math.max(LEAST_COLUMNS, options);
  const column = Array.from({ length: columns }, (_, place) => place);
  const longest = Math.max(...rows.map(({ ids }) => ids.length));
  const [ids, mask] = [new Int32Array(rows.length * longest), new Int32Array(rows.length * longest)];
  for (const [place, row] of rows.entries()) {
    ids.set(row.ids, place * longest);
    mask.fill(1, place * longest, place * longest + row.ids.length);
  }
  const outputs = await session.run(
    {
      input_ids: int64Tensor(ids, [rows.length, longest]),
      attention_mask: int64Tensor(mask, [rows.length, longest]),
      marker_pos: int64Tensor(
        rows.flatMap(({ markers }) => column.map((place) => markers[place] ?? 0)),
        [rows.length, columns],
      ),
      marker_mask: boolTensor(
        rows.flatMap(() => column.map((place) => place < options)),
        [rows.length, columns],
      ),
      qtype: int64Tensor(
        rows.map(({ type }) => LAYA_TYPES[type]),
        [rows.length],
      ),
    },
    ['logits'],
  );
  return splitRows(floatValues(outputs['logits']), rows.length);
}

function countContent(rows: readonly MarkerRow[]): number {
  return sum(rows.map(({ contentTokens }) => contentTokens));
}
