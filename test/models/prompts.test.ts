// The rows a split encoder is fed, against the fixtures that the training code is checked with as well.

import { expect, it } from 'vitest';
import { readPackedJson } from './packed-json.ts';
import { fixtureUrl, randomFixtures, sumFixtures, sumsUrl, wholeFixtures } from './prompt-fixtures.ts';

const random = randomFixtures();

it('makes the rows that the training code makes', () => {
  expect(JSON.parse(JSON.stringify(wholeFixtures(random)))).toEqual(readPackedJson(fixtureUrl));
});

it('makes the same rows of hundreds of random requests', () => {
  expect(sumFixtures(random)).toEqual(readPackedJson(sumsUrl));
});
