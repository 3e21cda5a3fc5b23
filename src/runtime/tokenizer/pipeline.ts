// What a tokenizer.json asks for: its parts made, or refused by name.

import { type AddedToken, checkPlainTokens, isSpecialToken } from './added-tokens.ts';
import { type BytePairFile, checkBytePair } from './byte-pair.ts';
import { type FrameFile, type Frames, readFrames } from './frames.ts';
import { makeNormalizer, type Normalizer, type NormalizerFile } from './normalizers.ts';
import { makePreTokenizer, type PreTokenizer, type PreTokenizerFile } from './pre-tokenizers.ts';
import { requireVocabulary, type UnigramFile } from './unigram.ts';
import { unsupported } from './unsupported.ts';

export interface PipelineFile extends FrameFile {
  readonly normalizer?: NormalizerFile | null;
  readonly pre_tokenizer?: PreTokenizerFile | null;
  readonly added_tokens?: readonly AddedToken[];
  readonly model?: { readonly type?: string } | null;
}

export type PipelineModel =
  | { readonly type: 'Unigram'; readonly file: UnigramFile }
  | { readonly type: 'BPE'; readonly file: BytePairFile };

export interface Pipeline {
  readonly normalizer: Normalizer;
  readonly preTokenizer: PreTokenizer;
  readonly model: PipelineModel;
  readonly frames: Frames;
  /** Ids that no text gives. */
  readonly specials: ReadonlySet<number>;
  /** Added tokens that are found in a text. */
  readonly plainTokens: readonly AddedToken[];
}

/** Padding and truncation are the server's, and nothing is decoded: those members do not matter. @throws StartError */
export function readPipeline(file: PipelineFile): Pipeline {
  const frames = readFrames(file);
  const model = readModel(file);
  const normalizer = makeNormalizer(file.normalizer);
  const preTokenizer = makePreTokenizer(file.pre_tokenizer);
  if (preTokenizer.needsFirst && normalizer.movesStart) {
    throw unsupported('the prepend_scheme first after a normalizer that changes where a text begins');
  }
  if (preTokenizer.isByteLevel && model.type !== 'BPE') throw unsupported(`ByteLevel before a ${model.type} model`);
  const added = file.added_tokens ?? [];
  const specials = added.filter((token) => isSpecialToken(token, frames));
  const plainTokens = added.filter((token) => !specials.includes(token));
  checkPlainTokens(plainTokens);
  return { normalizer, preTokenizer, model, frames, specials: specialIds(specials, model), plainTokens };
}

function readModel({ model }: PipelineFile): PipelineModel {
  switch (model?.type) {
    case 'Unigram': {
      const file = model as UnigramFile;
      requireVocabulary(file);
      return { type: 'Unigram', file };
    }
    case 'BPE': {
      const file = model as BytePairFile;
      checkBytePair(file);
      return { type: 'BPE', file };
    }
    default:
      throw unsupported(`a model ${String(model?.type)} with this normalizer`);
  }
}

/** The unknown token too: a text may be unknown, and never says so. */
function specialIds(specials: readonly AddedToken[], { type, file }: PipelineModel): Set<number> {
  const ids = new Set(specials.map(({ id }) => id));
  const unknown = type === 'Unigram' ? file.unk_id : file.vocab?.[file.unk_token ?? ''];
  return typeof unknown === 'number' ? ids.add(unknown) : ids;
}
