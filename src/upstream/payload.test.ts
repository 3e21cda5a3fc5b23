import { Readable } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { Payload } from './payload.ts';

async function sent(payload: Payload): Promise<Buffer> {
  const body = payload.body();
  if (!(body instanceof Readable)) return body;
  const pieces: Buffer[] = [];
  for await (const piece of body) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

describe('a payload', () => {
  it.each([
    ['nothing', ''],
    ['a small text', '{"a":"é"}'],
    ['a large text', 'a'.repeat(1_000_000)],
    ['characters of four bytes at every cut', `x${'😀'.repeat(200_000)}`],
    ['the same, one unit later', '😀'.repeat(200_000)],
  ])('sends %s to the byte, twice if it must', async (_what, text) => {
    const payload = new Payload(text);
    const bytes = Buffer.from(text);
    expect(payload.byteLength).toBe(bytes.length);
    for (let attempt = 0; attempt < 2; attempt++) expect((await sent(payload)).equals(bytes)).toBe(true);
    payload.letGo();
  });

  it('is let go once: by itself a while after a large one has gone out, or when it is told so', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const onLetGo = vi.fn();
      const payload = new Payload('a'.repeat(100_000), onLetGo);
      await sent(payload);
      vi.advanceTimersByTime(499);
      expect([payload.isThere, onLetGo.mock.calls.length]).toEqual([true, 0]);
      vi.advanceTimersByTime(1);
      payload.letGo();
      expect([payload.isThere, onLetGo.mock.calls.length]).toEqual([false, 1]);
    } finally {
      vi.useRealTimers();
    }
  });
});
