import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { cut } from '../../runtime/families/cut.ts';
import { readModelFolder } from '../../runtime/model-folder/model-folder.ts';
import { largestDocumentBytes } from './deciding-model.ts';

describe('the largest document of a model', () => {
  it('has room for any text of the longest length, wherever its words end', async () => {
    const { manifest } = await readModelFolder(fileURLToPath(new URL('../../../models/kev', import.meta.url)));
    if (manifest.family !== 'split-encoder') throw new Error('kev decides');
    const { limits, windows, shape } = manifest;
    const bytesPerToken = 2 * shape.layers * shape.heads * shape.head_size * Float32Array.BYTES_PER_ELEMENT;
    const content = windows.tokens - 2;
    for (let wordTokens = 1; wordTokens <= 2 * content; wordTokens++) {
      const ids = Int32Array.from({ length: limits.state_tokens }, (_, place) => place % wordTokens);
      const slices = cut(ids, content, (id) => id > 0);
      const tokens = ids.length + 2 * slices.length;
      expect(tokens * bytesPerToken, `words of ${wordTokens} tokens`).toBeLessThanOrEqual(
        largestDocumentBytes(manifest),
      );
    }
  });
});
