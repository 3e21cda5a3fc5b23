// How many tokens a model reads at once: the least of what its files state. Each of them may be missing or mean nothing.

import type { RecipeFiles, Sourced } from './recipe-files.ts';

/** Tokenizers without a limit state 10³⁰ or so. */
const MEANINGLESS = 10_000_000;
/** Their table of positions begins after the padding's own. */
const OFFSET_TYPES = new Set([
  'roberta',
  'xlm-roberta',
  'xlm-roberta-xl',
  'camembert',
  'mpnet',
  'longformer',
  'data2vec-text',
  'roberta-prelayernorm',
]);
const CONFIG_MEMBERS = ['max_position_embeddings', 'max_trained_positions', 'n_positions'];
const SENTENCE_FILE = /^sentence_[a-z-]+_config\.json$/;

/** Every limit that is stated, the least first; none: nobody says. */
export async function readTokenLimits(files: RecipeFiles): Promise<readonly Sourced<number>[]> {
  const config = await files.readObject('config.json');
  const stated: Sourced<unknown>[] = [];
  for (const member of CONFIG_MEMBERS) {
    const positions = positionsOf(config, member);
    stated.push({ value: positions.value, from: `config.json: ${member}${positions.note}` });
  }
  const sentenceFiles = files.files.map(({ path }) => path).filter((path) => SENTENCE_FILE.test(path));
  for (const path of sentenceFiles) {
    stated.push({ value: (await files.readObject(path))['max_seq_length'], from: `${path}: max_seq_length` });
  }
  const tokenizer = await files.readObject('tokenizer_config.json');
  stated.push({ value: tokenizer['model_max_length'], from: 'tokenizer_config.json: model_max_length' });
  return stated.filter(isLimit).sort((a, b) => a.value - b.value);
}

function positionsOf(config: Readonly<Record<string, unknown>>, member: string) {
  const value = config[member];
  const isOffset = member === 'max_position_embeddings' && OFFSET_TYPES.has(String(config['model_type']));
  if (!isOffset || typeof value !== 'number') return { value, note: '' };
  const padding = typeof config['pad_token_id'] === 'number' ? config['pad_token_id'] : 1;
  return { value: value - padding - 1, note: ` less ${padding + 1} (padding)` };
}

function isLimit(stated: Sourced<unknown>): stated is Sourced<number> {
  const { value } = stated;
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value < MEANINGLESS;
}
