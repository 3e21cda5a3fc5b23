// What happens while models load: broken folders, devices that are not there, optimised graphs kept between starts.

import { createHash } from 'node:crypto';
import { appendFile, cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LocalEngineOptions } from '../../src/engine/local-engine.ts';
import type { EngineEvent } from '../../src/engine/pooled-engine.ts';
import { StartError } from '../../src/runtime/start-error.ts';
import { caller, createTinyEngine, longJob, tinyDecision } from './tiny-engine.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'umpire-loading-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A copy of the tiny decision model, with something done to it. */
async function copyModel(change: (model: string) => Promise<unknown>): Promise<string> {
  const model = join(folder, 'model');
  await cp(tinyDecision, model, { recursive: true });
  await change(model);
  return model;
}

/** Writes a changed file together with a matching checksum, as someone who edits a model would. */
async function editFile(model: string, name: string, edit: (text: string) => string): Promise<void> {
  const text = edit(await readFile(join(model, name), 'utf8'));
  await writeFile(join(model, name), text);
  const sums = await readFile(join(model, 'SHA256SUMS'), 'utf8');
  const sum = createHash('sha256').update(text).digest('hex');
  await writeFile(join(model, 'SHA256SUMS'), sums.replace(new RegExp(`^.*  ${name}$`, 'm'), `${sum}  ${name}`));
}

/** @returns the message with which the engine does not start */
async function startFault(model: string, changes: Partial<LocalEngineOptions> = {}): Promise<string> {
  try {
    const engine = await createTinyEngine({ modelFolders: [model], ...changes });
    await engine.ready;
    await engine.drain();
    return 'it started';
  } catch (error) {
    return error instanceof StartError ? error.message : `not a StartError: ${String(error)}`;
  }
}

describe('a broken model folder stops the start and says which and why', () => {
  it.each<[string, (model: string) => Promise<unknown>, string[]]>([
    ['no such folder', (model) => rm(model, { recursive: true }), ['SHA256SUMS', 'missing']],
    ['a missing graph', (model) => rm(join(model, 'head.fp32.onnx')), ['head.fp32.onnx', 'missing']],
    ['a changed graph', (model) => appendFile(join(model, 'head.fp32.onnx'), 'x'), ['head.fp32.onnx', 'checksum']],
    ['sums that are none', (model) => writeFile(join(model, 'SHA256SUMS'), 'what?\n'), ['SHA256SUMS', 'line 1']],
    ['a manifest that is not JSON', (model) => editFile(model, 'model.json', () => '{'), ['model.json', 'JSON']],
    [
      'a manifest with faults',
      (model) => editFile(model, 'model.json', (text) => text.replace('"heads": 2', '"heads": -2')),
      ['model.json', 'shape.heads'],
    ],
    [
      'a graph that is not listed',
      (model) => editFile(model, 'model.json', (text) => text.replace('head.fp32.onnx', 'other.onnx')),
      ['other.onnx', 'not listed'],
    ],
    [
      'a graph that is no graph',
      (model) => editFile(model, 'head.fp32.onnx', () => 'not a graph'),
      ['fp32 graphs', 'head.fp32.onnx'],
    ],
    [
      'other golden answers',
      (model) => editFile(model, 'golden.json', (text) => text.replace(/0\.\d\d/, '0.11')),
      ['golden.json', 'golden mismatch', 'case 1'],
    ],
    [
      'a tokenizer of another kind',
      (model) => editFile(model, 'tokenizer.json', (text) => text.replace('"BertPreTokenizer"', '"ByteLevel"')),
      ['tokenizer.json', 'ByteLevel', 'is not supported'],
    ],
  ])('%s', async (_name, change, words) => {
    const model = await copyModel(change);
    const message = await startFault(model);
    for (const word of [model, ...words]) expect(message).toContain(word);
  });
});

describe('a device', () => {
  it('that is not there stops the start', async () => {
    const message = await startFault(tinyDecision, { device: 'cuda' });
    expect(message).toContain('device cuda cannot be used');
  });

  it('that nobody knows stops the start', async () => {
    expect(await startFault(tinyDecision, { device: 'abacus' })).toContain('device abacus cannot be used');
  });

  it('that is not there is replaced only if allowed, and never silently', async () => {
    const events: EngineEvent[] = [];
    const engine = await createTinyEngine({
      device: 'cuda',
      allowDeviceFallback: true,
      onEvent: (event) => events.push(event),
    });
    await engine.ready;
    expect(engine.status().device).toBe('cpu');
    expect(events).toContainEqual({ level: 'warn', message: expect.stringContaining('cuda cannot be used') });
    await engine.drain();
  });
});

describe('optimised graphs', () => {
  /** Starts once. @returns what each model found in the cache, and the answers of one decision */
  async function start(cacheFolder: string) {
    const states: unknown[] = [];
    const warnings: string[] = [];
    const engine = await createTinyEngine({
      cacheFolder,
      onEvent: ({ level, message, details }) => {
        if (details !== undefined) states.push(details['optimizedGraphs']);
        if (level === 'warn') warnings.push(message);
      },
    });
    await engine.ready;
    const { answers } = await engine.ticketFor(longJob(), caller).run();
    await engine.drain();
    return { states, warnings, answers };
  }

  async function cachedFiles(): Promise<string[]> {
    return (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('graph.onnx')).sort();
  }

  it('are made once and read from then on, with the same answers to the bit', async () => {
    const first = await start(folder);
    const files = await cachedFiles();
    expect(files).toHaveLength(4);
    const times = await Promise.all(files.map(async (name) => (await stat(join(folder, name))).mtimeMs));
    const second = await start(folder);
    expect(second.states).toEqual(['read', 'read']);
    expect(second.answers).toEqual(first.answers);
    expect(await Promise.all(files.map(async (name) => (await stat(join(folder, name))).mtimeMs))).toEqual(times);
  });

  it('are made anew when they are damaged', async () => {
    const first = await start(folder);
    const [file = ''] = await cachedFiles();
    await writeFile(join(folder, file), 'damaged');
    const second = await start(folder);
    expect(second.answers).toEqual(first.answers);
    expect((await readFile(join(folder, file))).length).toBeGreaterThan(100);
    expect((await readdir(folder)).filter((name) => name.startsWith('.draft'))).toEqual([]);
  });

  it('are shared by engines that start at once', async () => {
    const [left, right] = await Promise.all([start(folder), start(folder)]);
    expect(left.answers).toEqual(right.answers);
    expect(await cachedFiles()).toHaveLength(4);
    expect([...left.warnings, ...right.warnings]).toEqual([]);
  });

  it('are done without, aloud, where they cannot be kept', async () => {
    const file = join(folder, 'a-file');
    await writeFile(file, '');
    const { states, warnings } = await start(join(file, 'cache'));
    expect(states).toEqual(['none', 'none']);
    expect(warnings[0]).toContain('cannot be kept');
  });
});
