// What the greeting says for each kind of start, and that README.md shows the very words.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ModelCard, ModelType } from '../domain/model-card.ts';
import { type GreetedServer, greet } from './greeting.ts';

const README = readFileSync(join(import.meta.dirname, '..', '..', 'README.md'), 'utf8');
const HINTS = { command: 'npm run -s umpire --', guides: 'docs/guides' };

function model(id: string, type: ModelType): ModelCard {
  const price = { inputMicroUsd: 0, cachedInputMicroUsd: 0, outputMicroUsd: 0 };
  return { id, type, description: '', ownedBy: 'umpire', releaseDate: '2026-11-21', price };
}

const kev = model('kev', 'decision');
const mini = model('text-embed-mini', 'embedding');
const server: GreetedServer = {
  models: [kev, mini],
  aliases: {},
  device: 'cpu',
  workers: 2,
  threadsPerWorker: 1,
  tokenizer: 'native',
  caches: { stateCacheBytes: 0, cacheBytes: 0, cacheTtlMs: 0, scope: 'key', merge: false },
  dataDir: '/srv/umpire/data',
  host: '127.0.0.1',
  port: 8080,
  hasPages: true,
};

it('a server without pages names none', () => {
  const told = greet({ ...server, hasPages: false }, { ...HINTS, firstKey: undefined });
  expect(told).not.toContain('browser');
  expect(told).toContain('http://127.0.0.1:8080/openapi.json');
});

it('the greeting is what README.md shows', () => {
  expect(README).toContain(`\n${greet(server, { ...HINTS, firstKey: 'ump_…' }).trim()}\n`);
});

it('the greeting gives no request where no key was made: there is one already', () => {
  const later = greet(server, { ...HINTS, firstKey: undefined });
  expect(later).not.toMatch(/curl|API key/);
  expect(later).toContain('\nready   http://127.0.0.1:8080\n\nNext:\n');
});

it('the greeting says what this place has: commands as they are typed here, guides where they are', () => {
  const packed = greet(server, { firstKey: undefined, command: 'npx umpire', guides: undefined });
  expect(packed).toContain('  use and costs           npx umpire usage\n');
  expect(packed).not.toMatch(/npm run|guides/);
});

it('the greeting names other names of a model, and why the fast tokenizer is not used', () => {
  const told = greet(
    { ...server, aliases: { 'jev-latest': 'kev' }, tokenizer: 'javascript (as configured)' },
    {
      ...HINTS,
      firstKey: undefined,
    },
  );
  expect(told).toContain('models  kev (decision, also jev-latest), text-embed-mini (embedding)\n');
  expect(told).toContain('device  cpu, 2 workers × 1 thread; tokenizer: javascript (as configured)\n');
});

it('the greeting tells a server on every interface from the address to call', () => {
  const told = greet({ ...server, host: '0.0.0.0' }, { ...HINTS, firstKey: 'ump_x' });
  expect(told).toContain('ready   http://0.0.0.0:8080, every interface; from this machine http://127.0.0.1:8080\n');
  expect(told).toContain('curl http://127.0.0.1:8080/ai/v1/systemone ');
});

it.each([
  [[mini], /^curl \S+\/ai\/v1\/embeddings .*"model": "text-embed-mini"/ms],
  [[model('llama', 'llm')], /^curl \S+\/ai\/v1\/models -H "Authorization: Bearer ump_x"$/m],
])('asks for what the models can do', (models, request) => {
  expect(greet({ ...server, models }, { ...HINTS, firstKey: 'ump_x' })).toMatch(request);
});
