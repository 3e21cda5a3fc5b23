// The rows a split encoder is fed, against the fixtures that the training code is checked with as well.

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { buildPromptFixtures, fixtureUrl } from './prompt-fixtures.ts';

it('makes the rows that the training code makes', () => {
  const fixtures: unknown = JSON.parse(readFileSync(fixtureUrl, 'utf8'));
  expect(JSON.parse(JSON.stringify(buildPromptFixtures()))).toEqual(fixtures);
});
