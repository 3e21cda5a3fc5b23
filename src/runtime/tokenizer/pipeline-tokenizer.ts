// Every tokenizer.json that is not BERT's: Unigram and BPE, with the ids of the reference library for any text.

import { AddedTokens } from './added-tokens.ts';
import { BytePair } from './byte-pair.ts';
import { type Frames, readAddedIds } from './frames.ts';
import { IdList } from './id-list.ts';
import type { Normalize } from './normalizers.ts';
import { type Pipeline, type PipelineFile, type PipelineModel, readPipeline } from './pipeline.ts';
import type { PreTokenizer } from './pre-tokenizers.ts';
import { type EncodedTexts, encodeEach, type Tokenizer } from './tokenizer.ts';
import { Unigram } from './unigram.ts';

/** No normaliser that cannot shrink a text makes fewer UTF-16 units of it: U+1F82 is made of four. */
const LEAST_SHARE = 4;

export class PipelineTokenizer implements Tokenizer {
  readonly frames: Frames;
  readonly vocabularySize: number;
  readonly #addedIds: ReadonlyMap<string, number>;
  readonly #normalize: Normalize;
  readonly #split: PreTokenizer['split'];
  readonly #rawTokens: AddedTokens;
  readonly #normalizedTokens: AddedTokens;
  readonly #model: Unigram | BytePair;
  /** UTF-16 units of a normalised text that are one token at most; none where a token may stand for any number. */
  readonly #longest: number | undefined;

  /** @param file parsed tokenizer.json @throws StartError naming what is not supported */
  constructor(file: object) {
    const parts = readPipeline(file as PipelineFile);
    const { normalize } = parts.normalizer;
    this.#normalize = normalize;
    this.#split = parts.preTokenizer.split;
    this.frames = parts.frames;
    this.#addedIds = readAddedIds(file as PipelineFile);
    this.vocabularySize = Math.max(sizeOf(parts.model), ...[...this.#addedIds.values()].map((id) => id + 1));
    const raw = parts.plainTokens.filter(({ normalized }) => normalized === false);
    this.#rawTokens = new AddedTokens(raw, (text) => text);
    this.#normalizedTokens = new AddedTokens(
      parts.plainTokens.filter((token) => !raw.includes(token)),
      normalize,
    );
    this.#model = makeModel(parts);
    const canLose = parts.normalizer.canShrink || parts.preTokenizer.canDrop;
    const { longestToken } = this.#model;
    if (this.#model instanceof BytePair && this.#model.knowsAll && !canLose) {
      this.#longest = Math.max(longestToken, this.#rawTokens.longestToken, this.#normalizedTokens.longestToken);
    }
  }

  encode(text: string, limit = Number.POSITIVE_INFINITY): Int32Array {
    const ids = new IdList(limit);
    for (const part of this.#rawTokens.split(this.#cut(text, limit, LEAST_SHARE).toWellFormed())) {
      if ('id' in part) ids.push(part.id);
      else this.#encodePart(this.#normalize(part.text), part.start === 0, ids);
      if (ids.isOver) break;
    }
    return ids.since(0);
  }

  encodeAll(texts: readonly string[], limit?: number): EncodedTexts {
    return encodeEach(texts, (text) => this.encode(text, limit));
  }

  idOf(token: string): number | undefined {
    return this.#addedIds.get(token);
  }

  #encodePart(normalized: string, isFirst: boolean, ids: IdList): void {
    for (const part of this.#normalizedTokens.split(this.#cut(normalized, ids.room, 1))) {
      if ('id' in part) ids.push(part.id);
      else this.#encodePieces(part.text, isFirst && part.start === 0, ids);
      if (ids.isOver) break;
    }
  }

  #encodePieces(text: string, isFirst: boolean, ids: IdList): void {
    for (const piece of this.#split({ text, isFirst })) {
      this.#model.encode(piece.text, ids);
      if (ids.isOver) break;
    }
  }

  /** What is sure to have more tokens than the limit need not be read to its end. */
  #cut(text: string, limit: number, share: number): string {
    if (this.#longest === undefined) return text;
    const enough = share * (limit + 1) * this.#longest;
    return text.length > enough ? text.slice(0, enough) : text;
  }
}

function makeModel({ model, specials, preTokenizer: { isByteLevel } }: Pipeline): Unigram | BytePair {
  return model.type === 'Unigram'
    ? new Unigram(model.file, specials)
    : new BytePair(model.file, { specials, isByteLevel });
}

function sizeOf({ type, file }: PipelineModel): number {
  if (type === 'Unigram') return file.vocab?.length ?? 0;
  let size = 0;
  for (const token in file.vocab) size = Math.max(size, (file.vocab[token] ?? 0) + 1);
  return size;
}
