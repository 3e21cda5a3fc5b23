import { describe, expect, it } from 'vitest';
import { KeyValueLayout, type KeyValues } from './key-values.ts';
import { type Lease, StateMemory } from './state-memory.ts';
import { StateReader } from './state-reader.ts';
import { keysOf, nameWindow, type Window } from './windows.ts';

const FLOAT_BYTES = 4;
const layout = new KeyValueLayout({ layers: 1, heads: 2, headSize: 1 });

/** Keys are the ids, by head, and values those with another sign. */
const encode = ({ ids }: Window): KeyValues => {
  const heads = Float32Array.from([...ids, ...ids.map((id) => id + 100)]);
  return { tokens: ids.length, parts: [heads, heads.map((value) => -value)] };
};

function openReader({ keptBytes = 0, readsShared = true } = {}): StateReader {
  const graphs = {
    encodeWindow: async (window: Window) => encode(window),
    encodeWindowInto: async (window: Window, target: KeyValues) => {
      for (const [index, part] of encode(window).parts.entries()) target.parts[index]?.set(part);
    },
    readsSharedMemory: async () => readsShared,
  };
  return new StateReader({ graphs, layout, memory: new StateMemory({ keptBytes, scratchBytes: 1 << 16 }) });
}

const windows = [[1, 2, 3], [4, 5], [6]].map((ids, index) =>
  nameWindow({ ids: Int32Array.from(ids), segment: 0, index }, 'model'),
);
const BYTES = layout.floats(6) * FLOAT_BYTES;

/** Written by two workers, the end of the document first. */
async function writeTogether(memory = new SharedArrayBuffer(BYTES + 64)) {
  const document = { windows, memory };
  await openReader().writeShare(windows.slice(1), document);
  await openReader().writeShare(windows.slice(0, 1), document);
  return { windows: keysOf(windows), memory };
}

const tell = ({ keyValues }: Lease): number[][] => keyValues.parts.map((part) => [...part]);
const memoryOf = ({ keyValues }: Lease): unknown => keyValues.parts[0]?.buffer;

describe('a document that workers write together', () => {
  it('lies in their memory as it does in that of one who reads it alone', async () => {
    const { state } = await openReader().read(windows);
    expect(tell(state)).toEqual([
      [1, 2, 3, 4, 5, 6, 101, 102, 103, 104, 105, 106],
      [-1, -2, -3, -4, -5, -6, -101, -102, -103, -104, -105, -106],
    ]);
    const document = await writeTogether();
    expect(tell(await openReader().readShared(document))).toEqual(tell(state));
  });

  it('is read where it lies when it is not to be kept', async () => {
    const document = await writeTogether();
    const reader = openReader({ keptBytes: BYTES - FLOAT_BYTES });
    for (let part = 0; part < 2; part++) {
      const state = await reader.readShared(document);
      expect(memoryOf(state)).toBe(document.memory);
      state.release();
    }
    expect(reader.knows(windows)).toBe(false);
  });

  it('is copied once for all parts where the library takes no such memory', async () => {
    const document = await writeTogether();
    const reader = openReader({ readsShared: false });
    const first = await reader.readShared(document);
    first.release();
    new Float32Array(document.memory).fill(0);
    const second = await reader.readShared(document);
    expect(memoryOf(second)).not.toBe(document.memory);
    expect(tell(second)[0]?.slice(0, 3)).toEqual([1, 2, 3]);
  });

  it('is kept where there is room, for requests to come', async () => {
    const document = await writeTogether();
    const reader = openReader({ keptBytes: BYTES });
    (await reader.readShared(document)).release();
    const { state, keptTokens } = await reader.read(windows);
    expect([keptTokens, memoryOf(state) === document.memory]).toEqual([6, false]);
  });

  it('takes windows from where they are kept', async () => {
    const reader = openReader({ keptBytes: BYTES });
    (await reader.read(windows.slice(0, 1))).state.release();
    const document = { windows, memory: new SharedArrayBuffer(BYTES) };
    expect(await reader.writeShare(windows.slice(0, 2), document)).toBe(3);
    expect([...new Float32Array(document.memory).subarray(0, 6)]).toEqual([1, 2, 3, 4, 5, 0]);
  });

  it('is not written into memory that is too small for it', async () => {
    const memory = new SharedArrayBuffer(BYTES - FLOAT_BYTES);
    await expect(writeTogether(memory)).rejects.toThrow(RangeError);
    expect([...new Float32Array(memory)].every((value) => value === 0)).toBe(true);
  });
});
