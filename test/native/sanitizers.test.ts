// The C++ core under sanitizers, where a compiler is installed; elsewhere the run says that it was skipped.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const script = fileURLToPath(new URL('../../native/test/run.mjs', import.meta.url));
const RANDOM_TEXTS = 2000;

it('touches no memory that is not its own, leaks nothing and races with nobody', { timeout: 600_000 }, async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [script, String(RANDOM_TEXTS)]);
  if (stdout.includes('SKIPPED')) process.stderr.write(stdout);
  expect(stdout).toMatch(/^(passed|SKIPPED)/);
});
