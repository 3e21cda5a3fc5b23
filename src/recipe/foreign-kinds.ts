// Models that look like one of ours and are not: told by name, so that nobody wonders what was wrong.

import { RecipeError } from './recipe-error.ts';
import type { RecipeFiles } from './recipe-files.ts';

interface ForeignKind {
  /** Of the class that config.json names, or its model_type. */
  readonly name: RegExp;
  readonly words: string;
}

const KINDS: readonly ForeignKind[] = [
  { name: /gliclass/i, words: 'a GLiClass model' },
  { name: /gliner/i, words: 'a GLiNER model' },
  { name: /colbert/i, words: 'a model with a vector for each token (ColBERT)' },
  { name: /clip|siglip/i, words: 'a model of images and texts' },
  { name: /splade/i, words: 'a sparse model (SPLADE)' },
  { name: /ForMaskedLM$/, words: 'a model that fills gaps (or a sparse one)' },
  { name: /ForTokenClassification$/, words: 'a model that labels tokens' },
  { name: /ForQuestionAnswering$/, words: 'a model that finds answers in a text' },
  { name: /ForConditionalGeneration$|Seq2Seq/, words: 'a model that generates text' },
];
const DECODER = /ForCausalLM$|LMHeadModel$/;

/** @param hasModules whether sentence-transformers made it: decoders may then give vectors. @throws RecipeError */
export async function refuseForeignKinds(files: RecipeFiles, hasModules: boolean): Promise<void> {
  const config = await files.readObject('config.json');
  const classes = classNames(config);
  const names = [...classes, String(config['model_type'] ?? ''), String(config['architecture_type'] ?? '')];
  const kind = KINDS.find(({ name }) => names.some((candidate) => name.test(candidate)));
  if (kind !== undefined) throw refused(kind.words, names);
  if (Array.isArray(config['lora_adaptations']))
    throw refused('a model with tasks of its own (jina-embeddings-v3)', names);
  if (!hasModules && classes.some((name) => DECODER.test(name))) {
    throw refused('a model that generates text', names, ' If it gives vectors: --family text-encoder --pooling last.');
  }
  if (files.has('model.json') && files.has('SHA256SUMS')) {
    throw new RecipeError(
      'It has a model.json of its own: a package of another program (von), which is not supported.',
    );
  }
}

export function classNames(config: Readonly<Record<string, unknown>>): readonly string[] {
  const { architectures } = config;
  return Array.isArray(architectures) ? architectures.map(String) : [];
}

function refused(words: string, names: readonly string[], advice = ''): RecipeError {
  const told = names.filter((name) => name !== '' && name !== 'undefined').join(', ');
  return new RecipeError(`config.json (${told}): this is ${words}, which is not supported.${advice}`);
}
