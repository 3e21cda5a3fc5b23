// Every command of the guide about models of others is run as it stands there, in its order, against a hub on this machine
// that has small models under those names.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TINY_EMBEDDER, TINY_ENTAILMENT, TINY_RERANKER } from '../app/pull/tiny-repository.ts';
import { type FakeHub, startFakeHub } from '../hub/fake-hub.ts';
import { childEnvironment, GRAPH_CACHE, ROOT } from '../process/server-process.ts';
import { readSteps } from './guide-blocks.ts';

const info = { cardData: { license: 'mit' } };
/** As its publisher leaves it: without a word on pooling. */
const { 'modules.json': _, '1_Pooling/config.json': __, ...BARE_EMBEDDER } = TINY_EMBEDDER;

const folder = mkdtempSync(join(tmpdir(), 'umpire-models-guide-'));
let hub: FakeHub;

beforeAll(async () => {
  hub = await startFakeHub({
    repositories: {
      'Xenova/multilingual-e5-small': { files: BARE_EMBEDDER, info },
      'Xenova/ms-marco-MiniLM-L-6-v2': { files: TINY_RERANKER, info },
      'MoritzLaurer/ModernBERT-base-zeroshot-v2.0': { files: TINY_ENTAILMENT, info },
    },
  });
});

afterAll(async () => {
  await hub.close();
  rmSync(folder, { recursive: true, force: true });
});

async function typeIn(command: string): Promise<{ code: number | null; error: string }> {
  const child = spawn('sh', ['-eu', '-c', command], {
    cwd: ROOT,
    env: childEnvironment({
      PATH: [join(process.execPath, '..'), process.env['PATH'] ?? ''].join(delimiter),
      UMPIRE_DATA_DIR: join(folder, 'data'),
      UMPIRE_ENGINE_CACHE_DIR: GRAPH_CACHE,
      HF_ENDPOINT: hub.endpoint,
      HF_HOME: folder,
      NO_PROXY: '127.0.0.1',
    }),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [error, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
  return { code: code as number | null, error };
}

describe('docs/guides/models.md', () => {
  const steps = readSteps(readFileSync(join(ROOT, 'docs', 'guides', 'models.md'), 'utf8'));

  it('has commands', () => {
    expect(steps.length).toBeGreaterThanOrEqual(6);
  });

  it.each(steps)('$command', async ({ command }) => {
    const { code, error } = await typeIn(command);
    expect({ code, error }).toEqual({ code: 0, error });
    expect(error).not.toMatch(/umpire:|warning:/);
  });
});
