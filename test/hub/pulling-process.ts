// A process that pulls a repository, for tests that kill it or take its disk away. It holds the lock that it is given, pulls
// for each line on its input, and says in lines how far it is and how that ended.

import { createInterface } from 'node:readline/promises';
import { openHub } from '../../src/hub/hub.ts';
import { holdModelLock } from '../../src/runtime/model-folder/model-lock.ts';
import { settingsFor } from './open-fake.ts';

const [endpoint = '', folder = '', lockFile = ''] = process.argv.slice(2);
const tell = (news: object): void => void process.stdout.write(`${JSON.stringify(news)}\n`);
const hub = openHub({ ...settingsFor(endpoint), stallTimeoutMs: 1000 });
await holdModelLock(lockFile, 'model');

for await (const _line of createInterface({ input: process.stdin })) {
  try {
    const model = await hub.describe({ repo: 'acme/model', revision: 'main' });
    const paths = model.files.map(({ path }) => path);
    const taken = await model.take(paths, { folder, onProgress: ({ doneBytes }) => tell({ doneBytes }) });
    tell({ taken: taken.map(({ path, sha256 }) => [path, sha256]) });
  } catch (error) {
    tell({ failure: error instanceof Error ? error.message : String(error) });
  }
}
