// Family `marker-encoder`: a document and one question with all its options in one row, a marker before each option, as
// Laya's packages have it. One question per run, unpadded, so that an answer never depends on its neighbours.

import type { QuestionType } from '../../../domain/question.ts';
import { sum } from '../../../domain/sum.ts';
import { softmax, temperatureOf } from '../../../domain/temperature.ts';
import type { DecideReply } from '../../messages.ts';
import type { MarkerEncoderManifest } from '../../model-folder/manifest.ts';
import { boolTensor, floatValues, type GraphSession, int64Tensor } from '../../session.ts';
import type { Tokenizer } from '../../tokenizer/tokenizer.ts';
import { requireFinite } from '../finite-logits.ts';
import { restoreOrder } from '../option-order.ts';
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
    const startedMs = performance.now();
    // All are checked before the first is run: a call that must fail costs no inference.
    const rows = this.readRows(task);
    const tokenizedMs = performance.now();
    const probabilities: number[][] = [];
    for (const [place, row] of rows.entries()) {
      probabilities.push(await this.#answer(row, task.questions[place]?.type ?? 'choice'));
    }
    return {
      probabilities,
      inputTokens: countContent(rows),
      stateTokens: this.#readState(task.state).length,
      keptTokens: 0,
      isKept: false,
      tokenizeMs: tokenizedMs - startedMs,
      inferMs: performance.now() - tokenizedMs,
    };
  }

  /** The questions of one job come one after the other and bring the same state. */
  #readState(text: string): Int32Array {
    if (this.#lastState?.text !== text) this.#lastState = { text, ids: tokenizeMarkerState(text, this.#parts) };
    return this.#lastState.ids;
  }

  /** @returns `[options]`, in the order of the request */
  async #answer({ ids, markers, order }: MarkerRow, type: QuestionType): Promise<number[]> {
    const columns = Math.max(LEAST_COLUMNS, markers.length);
    const column = Array.from({ length: columns }, (_, place) => place);
    const outputs = await this.#parts.score.run(
      {
        input_ids: int64Tensor(ids, [1, ids.length]),
        attention_mask: int64Tensor(new Int32Array(ids.length).fill(1), [1, ids.length]),
        marker_pos: int64Tensor(
          column.map((place) => markers[place] ?? 0),
          [1, columns],
        ),
        marker_mask: boolTensor(
          column.map((place) => place < markers.length),
          [1, columns],
        ),
        qtype: int64Tensor([LAYA_TYPES[type]], [1]),
      },
      ['logits'],
    );
    const logits = requireFinite(floatValues(outputs['logits']), columns).subarray(0, markers.length);
    const temperature = temperatureOf(this.#parts.manifest.temperatures, type, markers.length);
    return restoreOrder(softmax(logits, temperature), order);
  }
}

function countContent(rows: readonly MarkerRow[]): number {
  return sum(rows.map(({ contentTokens }) => contentTokens));
}
