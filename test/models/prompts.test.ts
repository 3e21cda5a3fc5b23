// The rows a split encoder is fed, against the fixtures that the training code is checked with as well.

import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { fixtureUrl, randomFixtures, sumFixtures, sumsUrl, wholeFixtures } from './prompt-fixtures.ts';

const read = (url: URL): unknown => JSON.parse(readFileSync(url, 'utf8'));
const random = randomFixtures();

it('makes the rows that the training code makes', () => {
  expect(JSON.parse(JSON.stringify(wholeFixtures(random)))).toEqual(
    JSON.parse(gunzipSync(readFileSync(fixtureUrl)).toString('utf8')),
  );
});

it('makes the same rows of hundreds of random requests', () => {
  expect(sumFixtures(random)).toEqual(read(sumsUrl));
});
