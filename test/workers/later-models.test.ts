// Models that are loaded when they are first asked for, by real workers: answers, crashes, folders that broke meanwhile,
// the end of the engine in the midst of a load.

import { appendFile, cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EmbedJob } from '../../src/engine/engine.ts';
import type { LocalEngine } from '../../src/engine/local-engine.ts';
import type { EngineEvent } from '../../src/engine/pooled-engine.ts';
import { StartError } from '../../src/runtime/start-error.ts';
import { runScenario } from './run-scenario.ts';
import { caller, createTinyEngine, longJob, tinyDecision, tinyEmbedding } from './tiny-engine.ts';

const job: EmbedJob = { modelId: 'tiny-embedding', inputs: ['the parcel'], dimensions: undefined, encoding: 'base64' };
const stateOf = (engine: LocalEngine) => engine.status().models.find(({ id }) => id === 'tiny-embedding')?.state;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'umpire-later-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('a model of first use', () => {
  it('gives the same answers as one of the start, after decisions were answered beside its load', async () => {
    const start = await createTinyEngine();
    const later = await createTinyEngine({ laterFolders: [tinyEmbedding] });
    await Promise.all([start.ready, later.ready]);
    expect(stateOf(later)).toBe('not_loaded');
    const [expected, decision, first, second] = await Promise.all([
      start.ticketFor(job, caller).run(),
      later.ticketFor(longJob(), caller).run(),
      later.ticketFor(job, caller).run(),
      later.ticketFor(job, { ...caller, keyId: 'other' }).run(),
    ]);
    expect([first.embeddings, second.embeddings]).toEqual([expected.embeddings, expected.embeddings]);
    expect(decision.answers).toHaveLength(16);
    expect(stateOf(later)).toBe('loaded');
    await Promise.all([start.drain(), later.drain()]);
  });

  it('is loaded by a call that only counts, too', async () => {
    const engine = await createTinyEngine({ laterFolders: [tinyEmbedding] });
    await engine.ready;
    expect(await engine.ticketFor(job, caller).countTokens()).toBe(2);
    expect(stateOf(engine)).toBe('loaded');
    await engine.drain();
  });

  it('may be every model there is', async () => {
    const engine = await createTinyEngine({ laterFolders: [tinyDecision, tinyEmbedding] });
    await engine.ready;
    const results = await Promise.all([engine.ticketFor(longJob(), caller).run(), engine.ticketFor(job, caller).run()]);
    expect(results).toHaveLength(2);
    await engine.drain();
  });

  it('works again in a worker that replaced a dead one', async () => {
    const { exitCode, output, stderr } = await runScenario('later-model');
    expect(output, stderr).toEqual({
      atStart: ['tiny-decision'],
      later: 'tiny-embedding',
      isSame: true,
      dead: 'internal_error',
      faults: [],
    });
    expect(exitCode).toBe(0);
  });
});

describe('a model of first use that cannot be loaded', () => {
  it('is unavailable, and why is for the operator alone; other models go on', async () => {
    const model = join(folder, 'model');
    await cp(tinyEmbedding, model, { recursive: true });
    const events: EngineEvent[] = [];
    const engine = await createTinyEngine({
      modelFolders: [tinyDecision, model],
      laterFolders: [model],
      onEvent: (event) => events.push(event),
    });
    await engine.ready;
    await rm(join(model, 'embed.fp32.onnx'));
    await expect(engine.ticketFor(job, caller).run()).rejects.toMatchObject({
      code: 'model_unavailable',
      message: expect.not.stringContaining(folder),
    });
    expect(stateOf(engine)).toBe('failed');
    const [told] = events.filter(({ level }) => level === 'error');
    for (const word of ['tiny-embedding', model, 'embed.fp32.onnx']) expect(told?.message).toContain(word);
    expect((await engine.ticketFor(longJob(), caller).run()).answers).toHaveLength(16);
    await engine.drain();
  });

  it('is unavailable where its graph became another one', async () => {
    const model = join(folder, 'model');
    await cp(tinyEmbedding, model, { recursive: true });
    const engine = await createTinyEngine({ modelFolders: [model], laterFolders: [model] });
    await engine.ready;
    await appendFile(join(model, 'embed.fp32.onnx'), 'not a part of a graph');
    await expect(engine.ticketFor(job, caller).run()).rejects.toMatchObject({ code: 'model_unavailable' });
    await engine.drain();
  });

  it('refuses the start where it would never fit', async () => {
    const given = { laterFolders: [tinyEmbedding], memoryBytes: 50 * 2 ** 20 };
    const refused = createTinyEngine(given);
    await expect(refused).rejects.toThrow(StartError);
    await expect(refused).rejects.toThrow(/With tiny-embedding, the server may need .*first use/s);
  });
});

describe('an engine that is drained while it loads', () => {
  it('ends when the worker is done, and tells the caller to come back', async () => {
    const engine = await createTinyEngine({ laterFolders: [tinyEmbedding] });
    await engine.ready;
    const outcome = expect(engine.ticketFor(job, caller).run()).rejects.toMatchObject({ code: 'overloaded' });
    await engine.drain();
    await outcome;
    expect(engine.status().state).toBe('draining');
  });
});
