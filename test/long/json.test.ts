// Our parser beside the oracle on random texts. JSON_SEED repeats a run; the seed is printed first.

import { randomInt } from 'node:crypto';
import { describe, it } from 'vitest';
import { agreesOnChangedJson, agreesOnJson, agreesOnNames, agreesOnTokens } from '../domain/json-agreement.ts';

const SEED = Number(process.env['JSON_SEED'] ?? randomInt(2 ** 31));

describe('our parser and the oracle agree', () => {
  process.stdout.write(`JSON_SEED=${SEED}\n`);
  it.each([
    ['JSON', agreesOnJson, 20_000],
    ['texts near JSON', agreesOnTokens, 400_000],
    ['JSON with one character changed', agreesOnChangedJson, 200_000],
    ['names with escapes', agreesOnNames, 100_000],
  ] as const)('on %s', (_what, agrees, numRuns) => agrees({ seed: SEED, numRuns }));
});
