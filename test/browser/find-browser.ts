// Which Chromium the tests drive. Without one they are skipped, and say so; never in CI, where they would be skipped for ever.

import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** As distributions and vendors name it. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const PLACES = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

export interface BrowserSurroundings {
  /** `CHROMIUM_PATH`, `PATH` and `CI` are read. */
  readonly env: NodeJS.ProcessEnv;
  readonly exists?: (path: string) => boolean;
}

/**
 * @returns the program's path; undefined: there is none, and these tests may be skipped
 * @throws Error when `CHROMIUM_PATH` names nothing, and in CI when there is none
 */
export function findBrowser({ env, exists = existsSync }: BrowserSurroundings): string | undefined {
  const named = env['CHROMIUM_PATH'];
  if (named !== undefined && named !== '') {
    if (exists(named)) return named;
    throw new Error(`CHROMIUM_PATH names ${named}, which is not there.`);
  }
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const found = [...folders.flatMap((folder) => NAMES.map((name) => join(folder, name))), ...PLACES].find(exists);
  if (found === undefined && env['CI'] === 'true') {
    throw new Error(
      'There is no Chromium, and CI is set: the browser tests must run there. Install Chromium or set CHROMIUM_PATH.',
    );
  }
  return found;
}
