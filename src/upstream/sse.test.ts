import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readEvents, type ServerSentEvent } from './sse.ts';

const BOUND = 1000;

async function read(pieces: readonly Uint8Array[], maxEventLength = BOUND): Promise<ServerSentEvent[]> {
  async function* source() {
    yield* pieces;
  }
  const events: ServerSentEvent[] = [];
  for await (const event of readEvents(source(), maxEventLength)) events.push(event);
  return events;
}

/** Cut at the given places, anywhere, also inside a character. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b);
  return [0, ...at].map((start, index) => bytes.subarray(start, at[index] ?? bytes.length));
}

const lineBreak = fc.constantFrom('\n', '\r\n', '\r');
const line = fc.string({ unit: 'grapheme', maxLength: 30 }).map((text) => text.replace(/[\r\n]/g, ''));

describe('server-sent events', () => {
  it('are the same however the bytes are cut and lines are broken', async () => {
    const events = fc.array(fc.array(line, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 5 });
    const places = fc.array(fc.nat(), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(events, lineBreak, places, async (lines, newline, cuts) => {
        const text = lines.map(
          (data) => `: note${newline}${data.map((part) => `data: ${part}${newline}`).join('')}${newline}`,
        );
        // A first event, for a carriage return at the very end still waits for a line feed.
        const bytes = Buffer.from(`${text.join('')}data: end\n\n`);
        expect(await read(cut(bytes, cuts))).toEqual(
          [...lines.map((data) => data.join('\n')), 'end'].map((data) => ({ type: undefined, data })),
        );
      }),
    );
  });

  it('have a type when they are given one, and none after it', async () => {
    const events = await read([Buffer.from('event: error\ndata: 1\n\ndata: 2\n\n')]);
    expect(events).toEqual([
      { type: 'error', data: '1' },
      { type: undefined, data: '2' },
    ]);
  });

  it('are dropped when the stream breaks off in one', async () => {
    expect(await read([Buffer.from('data: 1\n\ndata: 2\n')])).toEqual([{ type: undefined, data: '1' }]);
  });

  it.each([
    ['one line', [`data: ${'x'.repeat(BOUND)}`, 'xxx']],
    ['many lines', Array.from({ length: BOUND }, () => 'data: xx\n')],
  ])('are refused over the bound: %s', async (_name, pieces) => {
    const tooLong = read(pieces.map((piece) => Buffer.from(piece)));
    await expect(tooLong).rejects.toMatchObject({ code: 'upstream_error' });
  });

  it('before one over the bound are handed over', async () => {
    const seen: string[] = [];
    async function* source() {
      yield Buffer.from(`data: 1\n\ndata: ${'x'.repeat(2 * BOUND)}`);
    }
    const reading = (async () => {
      for await (const { data } of readEvents(source(), BOUND)) seen.push(data);
    })();
    await expect(reading).rejects.toMatchObject({ code: 'upstream_error' });
    expect(seen).toEqual(['1']);
  });
});
