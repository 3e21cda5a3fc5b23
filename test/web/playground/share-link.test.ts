import { deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { packState, unpackState } from '../../../src/web/playground/share-link.ts';

describe('the state of a page in its address', () => {
  it('comes out as it went in, in letters that need no escape', async () => {
    const state = {
      document: 'Ünïcode 🙂 "quotes" <img>\n'.repeat(200),
      threshold: 0.5,
      questions: '{"__proto__": {}}',
    };
    const fragment = await packState(state);
    expect(fragment).toMatch(/^v1\.[\w-]+$/);
    expect(fragment.length).toBeLessThan(400);
    expect(await unpackState(fragment)).toEqual(state);
  });

  it.each(['', 'v1.', 'v1.@@', 'v1.AAAA', 'v2.abc', 'anything'])(
    'is undefined where it is none: %s',
    async (fragment) => {
      expect(await unpackState(fragment)).toBeUndefined();
    },
  );

  it('is not unpacked to more than a page holds', async () => {
    const bomb = deflateRawSync(Buffer.from(`"${' '.repeat(50_000_000)}"`)).toString('base64url');
    expect(bomb.length).toBeLessThan(100_000);
    expect(await unpackState(`v1.${bomb}`)).toBeUndefined();
  });
});
