// What NVIDIA's driver prints of its devices, read.

import { describe, expect, it } from 'vitest';
import { parseDevices, sumUsedBytes } from '../../../bench/machine/device-memory.ts';

const MEBIBYTE = 1024 * 1024;

describe('devices', () => {
  it('have names, drivers and memory, one to a line', () => {
    const found = parseDevices('NVIDIA L4, 580.65.06, 1234, 23034\nNVIDIA GB10, 580.95.05, [N/A], [N/A]\n');
    expect(found[0]).toEqual({
      name: 'NVIDIA L4',
      driver: '580.65.06',
      usedBytes: 1234 * MEBIBYTE,
      totalBytes: 23_034 * MEBIBYTE,
    });
    expect(found[1]).toMatchObject({ name: 'NVIDIA GB10', usedBytes: Number.NaN });
    expect(sumUsedBytes(found.slice(0, 1))).toBe(1234 * MEBIBYTE);
  });

  it('of which nobody tells use nobody knows how much', () => {
    expect(parseDevices('')).toEqual([]);
    expect(sumUsedBytes([])).toBeNaN();
  });
});
