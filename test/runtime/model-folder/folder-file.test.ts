// Files of a model folder that lie packed: read, summed, calibrated and refused as plain ones are.

import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { isDecisionFolder, writeTemperatures } from '../../../src/runtime/model-folder/calibrated-folder.ts';
import { readFolderFile, sumOfFolderFile } from '../../../src/runtime/model-folder/folder-file.ts';
import { readModelFolder } from '../../../src/runtime/model-folder/model-folder.ts';
import { createTinyEngine, tinyDecision } from '../../workers/tiny-engine.ts';

const root = mkdtempSync(join(tmpdir(), 'umpire-packed-'));
const path = join(root, 'model');
const PACKED = ['golden.json', 'model.json', 'tokenizer.json', 'tokenizer_config.json'];

beforeEach(() => {
  rmSync(path, { recursive: true, force: true });
  cpSync(tinyDecision, path, { recursive: true });
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const read = (name: string) => readFileSync(join(path, name));

function pack(name: string): void {
  writeFileSync(join(path, `${name}.gz`), gzipSync(read(name)));
  rmSync(join(path, name));
}

describe('a packed file', () => {
  it('has the content and the sum of the plain one', async () => {
    const plain = read('tokenizer.json');
    pack('tokenizer.json');
    expect(await readFolderFile(path, 'tokenizer.json')).toEqual(plain);
    expect(await sumOfFolderFile(path, 'tokenizer.json')).toBe(createHash('sha256').update(plain).digest('hex'));
  });

  it('is not read where the plain one lies, too', async () => {
    writeFileSync(join(path, 'golden.json.gz'), 'not gzip');
    expect(await readFolderFile(path, 'golden.json')).toEqual(read('golden.json'));
    expect((await readModelFolder(path)).digest).toBe((await readModelFolder(tinyDecision)).digest);
  });

  it('that is missing is missed by its own name', async () => {
    rmSync(join(path, 'golden.json'));
    await expect(readModelFolder(path)).rejects.toThrow(`model folder ${path}: golden.json: the file is missing`);
  });

  it.each([
    ['is cut off', (bytes: Buffer) => bytes.subarray(0, -20), 'unexpected end of file'],
    ['is something else', () => Buffer.from('{"cases":[]}'), 'incorrect header check'],
    ['is empty', () => Buffer.alloc(0), 'unexpected end of file'],
  ])('that %s is refused by name', async (_what, damage, reason) => {
    pack('golden.json');
    writeFileSync(join(path, 'golden.json.gz'), damage(read('golden.json.gz')));
    await expect(readModelFolder(path)).rejects.toThrow(
      `model folder ${path}: golden.json: golden.json.gz cannot be unpacked: ${reason}`,
    );
  });

  it('that unpacks into more than any file of a model is refused', async () => {
    pack('golden.json');
    writeFileSync(join(path, 'golden.json.gz'), gzipSync(Buffer.alloc(257 * 1024 * 1024), { level: 1 }));
    await expect(readModelFolder(path)).rejects.toThrow(
      'golden.json.gz cannot be unpacked: Cannot create a Buffer larger',
    );
  });

  it('with other content does not match its sum', async () => {
    pack('golden.json');
    writeFileSync(join(path, 'golden.json.gz'), gzipSync('{}'));
    await expect(readModelFolder(path)).rejects.toThrow(/: golden\.json: checksum mismatch/);
  });
});

describe('a graph that lies packed', () => {
  beforeEach(() => pack('encode.fp32.onnx'));

  it('is unpacked beside itself, once, with nothing left over', async () => {
    const plain = readFileSync(join(tinyDecision, 'encode.fp32.onnx'));
    const [first, second] = await Promise.all([readModelFolder(path), readModelFolder(path)]);
    expect(first.digest).toBe((await readModelFolder(tinyDecision)).digest);
    expect(second.digest).toBe(first.digest);
    expect(read('encode.fp32.onnx')).toEqual(plain);
    expect(
      readdirSync(path)
        .filter((name) => name.startsWith('encode.fp32'))
        .sort(),
    ).toEqual(['encode.fp32.onnx', 'encode.fp32.onnx.gz']);
  });

  it('is refused by name where it is broken, and leaves nothing', async () => {
    writeFileSync(join(path, 'encode.fp32.onnx.gz'), read('encode.fp32.onnx.gz').subarray(0, 100));
    await expect(readModelFolder(path)).rejects.toThrow(
      `model folder ${path}: encode.fp32.onnx: encode.fp32.onnx.gz cannot be unpacked: unexpected end of file`,
    );
    expect(readdirSync(path).filter((name) => name.startsWith('encode.fp32'))).toEqual(['encode.fp32.onnx.gz']);
  });
});

describe('a folder with every JSON file packed', () => {
  beforeEach(() => {
    for (const name of PACKED) pack(name);
  });

  it('has the same digest and answers', async () => {
    expect((await readModelFolder(path)).digest).toBe((await readModelFolder(tinyDecision)).digest);
    const engine = await createTinyEngine({ modelFolders: [path], workers: 1 });
    await expect(engine.ready).resolves.toBeUndefined();
    await engine.drain();
  });

  it('gets plain files in the place of those that are calibrated', async () => {
    const folder = await readModelFolder(path);
    if (!isDecisionFolder(folder)) throw new Error('The tiny model should answer questions.');
    const temperatures = { ...folder.manifest.temperatures, noul: { '2': 0.5 } };
    const after = await writeTemperatures(folder, temperatures);
    expect(after.manifest).toMatchObject({ temperatures });
    const names = readdirSync(path).filter((name) => name.includes('.json'));
    expect(names).toEqual(['golden.json', 'model.json', 'tokenizer.json.gz', 'tokenizer_config.json.gz']);
  });
});
