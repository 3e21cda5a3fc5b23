import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { measureFolder } from '../../../src/runtime/model-folder/folder-size.ts';
import { readModelFolder } from '../../../src/runtime/model-folder/model-folder.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const measure = async (folder: string, precision: string) =>
  await measureFolder(await readModelFolder(join(ROOT, folder)), precision);

describe('the size of a model folder', () => {
  it('counts weights beside the graphs for each graph that names them', async () => {
    const { weightBytes, tokenizerKind } = await measure('models/kev', 'int8');
    // Four graphs over one file of some 31 MB, which each has a copy of once it is optimised.
    const { size } = await stat(join(ROOT, 'models/kev/weights.int8.bin'));
    expect(weightBytes).toBeGreaterThan(4 * size);
    expect(weightBytes).toBeLessThan(4.1 * size);
    expect(tokenizerKind).toBe('WordPiece');
  });

  it('counts the graph alone where its weights are in it, and tokenizers unpacked', async () => {
    const { weightBytes, tokenizerBytes } = await measure('models/text-embed-mini', 'int8');
    expect(weightBytes).toBe(23_541_884);
    expect(tokenizerBytes).toBeGreaterThan(400_000);
  });

  it('counts the graph of another precision where weights are read from it', async () => {
    const { weightBytes } = await measure('models/text-embed-mini', 'fp16');
    expect(weightBytes).toBeGreaterThan(23_541_884);
    expect(weightBytes).toBeLessThan(1.01 * 23_541_884);
  });

  it('is none of a precision that is not there', async () => {
    expect((await measure('test/fixtures/tiny-embedding', 'fp16')).weightBytes).toBe(0);
  });
});
