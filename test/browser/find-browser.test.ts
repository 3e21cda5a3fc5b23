import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findBrowser } from './find-browser.ts';

const BIN = join('/usr', 'bin');
const CHROMIUM = join(BIN, 'chromium');

const only =
  (...paths: string[]) =>
  (path: string): boolean =>
    paths.includes(path);

describe('the browser of the tests', () => {
  it('is the one that CHROMIUM_PATH names', () => {
    expect(findBrowser({ env: { CHROMIUM_PATH: '/mine', PATH: BIN }, exists: only('/mine', CHROMIUM) })).toBe('/mine');
  });

  it('is not another one when CHROMIUM_PATH names nothing', () => {
    const find = () => findBrowser({ env: { CHROMIUM_PATH: '/gone', PATH: BIN }, exists: only(CHROMIUM) });
    expect(find).toThrow('CHROMIUM_PATH names /gone, which is not there.');
  });

  it('is found in the path', () => {
    expect(findBrowser({ env: { PATH: BIN, CHROMIUM_PATH: '' }, exists: only(CHROMIUM) })).toBe(CHROMIUM);
  });

  it('may be missing on the machine of a person', () => {
    expect(findBrowser({ env: { PATH: BIN }, exists: only() })).toBeUndefined();
  });

  it('may not be missing in CI', () => {
    expect(() => findBrowser({ env: { PATH: BIN, CI: 'true' }, exists: only() })).toThrow('There is no Chromium');
  });
});
