// What was measured of a device, as it stands on the screen and in its file.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { summariseOutcomes } from '../../../bench/load/goodput.ts';
import { summariseLatencies } from '../../../bench/load/statistics.ts';
import { parseDevices } from '../../../bench/machine/device-memory.ts';
import { describeMachine, describeVersions } from '../../../bench/machine/machine.ts';
import { type DeviceReport, formatDeviceReport, writeDeviceReport } from '../../../bench/pages/device-report.ts';
import { listRatios } from '../../../bench/parts/device.ts';

const folder = mkdtempSync(join(tmpdir(), 'umpire-device-report-'));
afterAll(() => rmSync(folder, { recursive: true }));

function cellOf(peer: string, concurrency: number, rates: readonly number[]) {
  return {
    peer,
    load: 'short',
    concurrency,
    tokensPerSecond: 1,
    requestsPerSecond: (rates[0] ?? 0) / rates.length,
    requestsPerSecondBySlice: [...rates],
    latency: summariseLatencies([12, 34]),
    refused: 0,
    errors: 0,
    clientShare: 0,
    cpuMs: 1,
  };
}

const CELLS = [cellOf('device', 1, [90, 110]), cellOf('processor', 1, [100, 100]), cellOf('device', 64, [900, 1000])];
const PARITY = {
  questions: 200,
  same: 199,
  meanShift: 2e-4,
  largestShift: 3e-3,
  vectors: 120,
  smallestCosine: 0.999_99,
};

function report(device: string, csv: string): DeviceReport {
  const outcome = { group: '', plannedMs: 0, sentMs: 1, endedMs: 101, ending: { kind: 'answered' } as const };
  return {
    format: 1,
    startedAt: '2026-11-23T10:00:00Z',
    isQuick: false,
    machine: { ...describeMachine(), hostname: 'host' },
    versions: describeVersions(),
    settings: {},
    othersShare: 0.01,
    figures: {
      device,
      parity: { requests: 150, sharedReplies: 140, full: PARITY, int8: { ...PARITY, same: 197 } },
      throughput: { rounds: 2, sliceMs: 1, cells: CELLS, leftOut: [], ratios: listRatios(CELLS) },
      overload: {
        rounds: 1,
        sliceMs: 1000,
        concurrency: 64,
        capacities: [{ peer: 'device', load: 'short', requestsPerSecond: 950 }],
        cells: [{ peer: 'device', hasDeadline: true, load: 'short', share: 2, ...summariseOutcomes([outcome], 1000) }],
      },
      batches: [{ ...cellOf('1024 tokens', 64, [300]), ratio: 4.5 }],
      servers: [
        {
          name: 'device',
          settings: {},
          readyMs: { firstMs: 2000, secondMs: 1000 },
          startedBytes: 4e8,
          loadedBytes: null,
        },
      ],
      memory: [{ moment: 'before anything was started', devices: parseDevices(csv) }],
    },
  };
}

describe('the ratios', () => {
  it('are of as many calls at a time, slice by slice, and of each at its best', () => {
    expect(listRatios(CELLS)).toEqual([
      { load: 'short', concurrency: 1, ratio: 1 },
      { load: 'short', concurrency: 'best of each', ratio: 9.5 },
    ]);
    expect(listRatios(CELLS.slice(0, 1))).toEqual([]);
  });
});

describe('a report', () => {
  it('has answers, throughput, overload, batches and memory', () => {
    const text = formatDeviceReport(report('cuda', 'NVIDIA L4, 580.65.06, 1000, 23034\n'));
    expect(text).toContain('device: cuda (NVIDIA L4, driver 580.65.06); processor: cpu, int8');
    expect(text).toMatch(/^int8 +200 +197 +2\.0e-4 +3\.0e-3 +120 +0\.999990$/m);
    expect(text).toContain('140 of 150 requests shared runs');
    expect(text).toMatch(/^short +64 +device +450 /m);
    expect(text).toMatch(/^short +best of each +9\.50$/m);
    expect(text).toMatch(/^short +2 +device +200 ms +1 +1 +101 +101 +101 +0 +– +0 +0$/m);
    expect(text).toMatch(/^short +64 +1024 tokens +300 .* 4\.50$/m);
    expect(text).toMatch(/^before anything was started +NVIDIA L4 +1049 +/m);
    expect(text).not.toMatch(/undefined|NaN|Infinity/);
  });

  it('says where nobody tells of the memory', () => {
    const text = formatDeviceReport(report('cpu', ''));
    expect(text).toContain('memory of the device: nobody tells (no nvidia-smi)');
    expect(text).toContain('device: the processor, with runs that rows share, in full precision; processor: cpu, int8');
  });

  it('is written under the day, the host and the device', () => {
    const path = writeDeviceReport(report('cuda', ''), folder);
    expect(basename(path)).toBe('2026-11-23-host-device-cuda.json');
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ format: 1, figures: { device: 'cuda' } });
    expect(basename(writeDeviceReport({ ...report('cuda', ''), isQuick: true }, folder))).toMatch(/cuda-quick\.json$/);
  });
});
