// The settings of pip: a machine that is set up for it is set up for `umpire gpu install`, which takes libraries out of the
// same packages. They have their names from there, and no flag and no place in our file.

import { parseProxies, parseSeconds, type Variables } from './hub-settings.ts';

const DEFAULT_TIMEOUT_SECONDS = 15;

/** By variable, for `docs/config.md`. */
export const INDEX_VARIABLES: Readonly<Record<string, string>> = {
  PIP_INDEX_URL: 'Address of the package index, or of a mirror. Default: `https://pypi.org/simple`.',
  PIP_DEFAULT_TIMEOUT: 'Seconds until the index has begun to answer, and longest silence inside a file. Default: 15.',
};

/** @param faults gets a sentence for each setting that cannot be used; values are not quoted */
export function parseIndexSettings(env: Variables, faults: string[]) {
  const timeoutMs = parseSeconds(env, 'PIP_DEFAULT_TIMEOUT', { faults, defaultSeconds: DEFAULT_TIMEOUT_SECONDS });
  return {
    index: env['PIP_INDEX_URL'] || 'https://pypi.org/simple',
    answerTimeoutMs: timeoutMs,
    stallTimeoutMs: timeoutMs,
    proxies: parseProxies(env),
  };
}
