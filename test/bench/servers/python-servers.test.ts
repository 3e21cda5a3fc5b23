// The descriptions of the Python servers: which there are, what the report says of them, and how they are started.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { FAMILIES, listCandidates, listPythonServers } from '../../../bench/servers/python-servers.ts';

const environments = mkdtempSync(join(tmpdir(), 'umpire-environments-'));
mkdirSync(join(environments, 'decisions', 'bin'), { recursive: true });
writeFileSync(join(environments, 'decisions', 'bin', 'python'), '');
afterAll(() => rmSync(environments, { recursive: true }));

describe('the Python servers', () => {
  const servers = listPythonServers(environments);

  it('are each as its users write it, then tuned', () => {
    expect(servers.map(({ id, kind, tasks }) => [id, kind, ...tasks])).toEqual([
      ['python', 'as-written', 'decision'],
      ['python-tuned', 'tuned', 'decision'],
      ['infinity', 'as-written', 'embedding'],
      ['infinity-tuned', 'tuned', 'embedding'],
      ['sentence-transformers', 'as-written', 'embedding'],
      ['sentence-transformers-tuned', 'tuned', 'embedding'],
    ]);
  });

  it('say their settings and the pinned versions of what answers', () => {
    expect(servers.map(({ settings }) => settings)).toEqual([
      { uvicorn: '' },
      {
        PEER_INTRA_THREADS: '1',
        PEER_SPINNING: '0',
        TOKENIZERS_PARALLELISM: 'false',
        PEER_EXECUTOR_THREADS: '2',
        uvicorn: '--no-access-log',
      },
      { engine: 'optimum', 'pooling-method': 'mean', options: '', workers: '1' },
      { engine: 'optimum', 'pooling-method': 'mean', options: '--batch-size 8', workers: '1' },
      { uvicorn: '' },
      {
        PEER_BACKEND: 'onnx',
        PEER_INTRA_THREADS: '1',
        OMP_NUM_THREADS: '1',
        TOKENIZERS_PARALLELISM: 'false',
        PEER_EXECUTOR_THREADS: '1',
        PEER_BATCH_SIZE: '8',
        uvicorn: '--no-access-log --workers 2',
      },
    ]);
    for (const { versions } of servers) expect(Object.values(versions)).not.toContain('not pinned');
  });

  it('are started where they are told, with what was tuned added', () => {
    const launch = servers[1]?.launch(4711, '/data');
    expect(launch?.file).toBe(join(environments, 'decisions', 'bin', 'python'));
    expect(launch?.arguments.join(' ')).toMatch(
      /^-m uvicorn decision_server\.app:app --app-dir \S+ --host 127\.0\.0\.1 --port 4711 --no-access-log$/,
    );
    expect(launch?.settings).toMatchObject({ PEER_EXECUTOR_THREADS: '2', PEER_SPINNING: '0' });
  });

  it('that were not installed say how that is done', () => {
    expect(() => servers[2]?.launch(4711, '/data')).toThrow('run node bench/install-peers.ts first');
  });
});

it('every setting that is tried has a server of its name', () => {
  const titles = Object.values(FAMILIES).map((family) =>
    listCandidates(family, environments).map(({ title }) => title),
  );
  expect(titles.map(({ length }) => length)).toEqual([15, 7, 8]);
  for (const some of titles) expect(new Set(some).size).toBe(some.length);
});
