// What Laya's own files say (`rl_agent_config.json`), in the manifest's words. Pure.

import type { QuestionType } from '../../../domain/question.ts';
import type { MarkerEncoderManifest } from '../../model-folder/manifest.ts';

/** Laya's own bounds: what was fitted outside of them would make a coin flip a certainty. */
const LEAST_TEMPERATURE = 0.5;
const MOST_TEMPERATURE = 5;

/** Laya's numbers of question types: of its graph's `qtype`, and places in `temperature`. */
export const LAYA_TYPES: Readonly<Record<QuestionType, number>> = { choice: 0, score: 1, noul: 2 };

/**
 * That of the number of options (`choice:3-5`), else that of the type, confined to Laya's bounds; 1 where there is none.
 * @param config parsed rl_agent_config.json
 */
export function temperaturesOf(config: {
  readonly temperature?: unknown;
  readonly temperature_by_options?: unknown;
}): MarkerEncoderManifest['temperatures'] {
  const byType = Array.isArray(config.temperature) ? config.temperature : [];
  const byOptions = (config.temperature_by_options ?? {}) as Readonly<Record<string, unknown>>;
  const ofBuckets = (type: QuestionType, buckets: readonly string[]) =>
    Object.fromEntries(
      buckets.map((bucket) => [bucket, confine(byOptions[`${type}:${bucket}`] ?? byType[LAYA_TYPES[type]])]),
    );
  return {
    choice: ofBuckets('choice', ['2', '3-5', '6-10', '11+']),
    noul: ofBuckets('noul', ['2']),
    score: ofBuckets('score', ['2', '3-5', '6-10']),
  };
}

function confine(temperature: unknown): number {
  if (typeof temperature !== 'number' || !Number.isFinite(temperature)) return 1;
  return Math.min(MOST_TEMPERATURE, Math.max(LEAST_TEMPERATURE, temperature));
}
