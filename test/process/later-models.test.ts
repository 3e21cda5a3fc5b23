// A server with one model of the start and one of first use, and one whose models cannot fit into memory.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decide, type Target } from './decisions.ts';
import { ServerProcess } from './server-process.ts';

interface Readiness {
  readonly status: string;
  readonly models: readonly { readonly id: string; readonly state: string }[];
}

async function embed({ address, key }: Target): Promise<Response> {
  return await fetch(`${address}/ai/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'text-embed-mini', input: 'hello' }),
  });
}

describe('a server with a model of first use', () => {
  let server: ServerProcess;
  let target: Target;

  beforeAll(async () => {
    server = new ServerProcess({
      UMPIRE_MODELS: '[{"folder": "kev", "load": "start"}, {"folder": "text-embed-mini", "load": "first-use"}]',
      UMPIRE_ENGINE_WORKERS: '2',
      UMPIRE_ENGINE_QUEUE_DEADLINE_MS: '60000',
    });
    target = { address: await server.listening(), key: server.initialKey() };
    await server.ready();
  });
  afterAll(() => server.dispose());

  const readiness = async () => (await (await fetch(`${target.address}/readyz`)).json()) as Readiness;

  it('is ready without it, answers its first request, and is healthy and decides meanwhile', async () => {
    expect(await readiness()).toEqual({
      status: 'ready',
      models: [
        { id: 'kev', state: 'loaded' },
        { id: 'text-embed-mini', state: 'not_loaded' },
      ],
    });
    const embedding = embed(target);
    const decision = await decide(target, 10);
    expect(decision.status).toBe(200);
    expect((await fetch(`${target.address}/healthz`)).status).toBe(200);
    expect((await readiness()).status).toBe('ready');
    const reply = await embedding;
    expect(reply.status).toBe(200);
    expect(await reply.json()).toMatchObject({ model: 'text-embed-mini', usage: { prompt_tokens: 1 } });
    expect((await readiness()).models).toContainEqual({ id: 'text-embed-mini', state: 'loaded' });
  });

  it('tells both in its metrics and its status', async () => {
    const metrics = await (await fetch(`${target.address}/metrics`)).text();
    expect(metrics).toMatch(/^umpire_engine_loaded_models 2$/m);
    const headers = { authorization: `Bearer ${target.key}` };
    const status = await (await fetch(`${target.address}/admin/v1/status`, { headers })).json();
    expect(status).toMatchObject({ engine: { models: [{ state: 'loaded' }, { state: 'loaded' }] } });
  });
});

describe('a start with too little memory', () => {
  it('is refused with what each model needs, and what helps', async () => {
    const server = new ServerProcess({ UMPIRE_ENGINE_MEMORY_BYTES: '104857600', UMPIRE_ENGINE_WORKERS: '2' });
    try {
      expect((await server.exited).code).not.toBe(0);
      for (const words of [
        'The models to load at the start, with the caches, may need',
        '100 MiB for them (engine.memoryBytes)',
        'at the start',
        'load: first-use',
        'engine.workers',
      ])
        expect(server.output).toContain(words);
      expect(server.output).toMatch(/kev +\d+ MiB/);
      expect(server.output).toMatch(/text-embed-mini +\d+ MiB/);
    } finally {
      await server.dispose();
    }
  });
});
