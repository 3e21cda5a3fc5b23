// What rl_agent_config.json says of a Laya package: its limits. Its temperatures are read by the family that uses them.

import { isRecord } from '../domain/json.ts';
import { RecipeError } from './recipe-error.ts';
import type { RecipeFiles } from './recipe-files.ts';

export const MARKER_CONFIG = 'rl_agent_config.json';
/** A fixed number of that library, which no file has. */
const OPTION_TOKENS = 48;

export interface MarkerFacts {
  readonly rowTokens: number;
  readonly questionTokens: number;
  readonly optionTokens: number;
  /** Their texts in the vocabulary; the mask marks the options. */
  readonly specialTokens: { readonly cls: string; readonly sep: string; readonly mask: string };
  readonly tokenizerFolder: string;
  readonly config: Readonly<Record<string, unknown>>;
}

/** @throws RecipeError */
export async function readMarkerFacts(files: RecipeFiles): Promise<MarkerFacts> {
  const config = await files.readObject(MARKER_CONFIG);
  const layout = config['option_layout'] ?? 'sequential';
  if (layout !== 'sequential')
    throw new RecipeError(`${MARKER_CONFIG}: option_layout ${String(layout)} is not supported.`);
  const tokenizerFolder = files.has('tokenizer/tokenizer.json') ? 'tokenizer/' : '';
  const tokenizer = await files.readObject(`${tokenizerFolder}tokenizer_config.json`);
  const path = `${tokenizerFolder}tokenizer_config.json`;
  return {
    rowTokens: readCount(config, 'max_len'),
    questionTokens: readCount(config, 'head_max_len'),
    optionTokens: OPTION_TOKENS,
    specialTokens: {
      cls: readToken(tokenizer, path, ['cls_token', 'bos_token']),
      sep: readToken(tokenizer, path, ['sep_token', 'eos_token']),
      mask: readToken(tokenizer, path, ['mask_token']),
    },
    tokenizerFolder,
    config,
  };
}

function readCount(config: Readonly<Record<string, unknown>>, member: string): number {
  const value = config[member];
  if (typeof value === 'number' && Number.isInteger(value) && value > 0) return value;
  throw new RecipeError(`${MARKER_CONFIG}: ${member} is no whole number from 1 on.`);
}

/** The first that is named; as a text, or as an object that has it. */
function readToken(config: Readonly<Record<string, unknown>>, path: string, names: readonly string[]): string {
  for (const name of names) {
    const value = config[name];
    const content = isRecord(value) ? value['content'] : value;
    if (typeof content === 'string' && content !== '') return content;
  }
  throw new RecipeError(`${path} names no ${names.join(' and no ')}, which a row is made with.`);
}
