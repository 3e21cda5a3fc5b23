// The result of `npm run bench -- --device NAME`: its shape, the tables on the screen, and the file in bench/results.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../machine/machine.ts';
import type { DeviceFigures } from '../parts/device.ts';
import { formatHead, type ReportHead } from './own-report.ts';
import { type Cell, formatTable, toMegabytes } from './table.ts';

export interface DeviceReport extends ReportHead {
  readonly figures: DeviceFigures;
}

/** @returns path of the file: the day, the host and the device it was measured on */
export function writeDeviceReport(report: DeviceReport, folder = join(ROOT, 'bench', 'results')): string {
  mkdirSync(folder, { recursive: true });
  const { startedAt, machine, figures, isQuick } = report;
  const names = [startedAt.slice(0, 10), machine.hostname, 'device', figures.device, ...(isQuick ? ['quick'] : [])];
  const path = join(folder, `${names.join('-')}.json`);
  writeFileSync(path, `${JSON.stringify(report, null, 2)}\n`);
  return path;
}

export function formatDeviceReport(report: DeviceReport): string {
  const { figures } = report;
  return [
    formatHead(report),
    describeDevice(figures),
    formatParity(figures.parity),
    formatThroughput(figures),
    formatOverload(figures.overload),
    formatBatches(figures.batches),
    formatMemory(figures),
  ].join('\n\n');
}

/** `processor`: as most run the server without a device. */
function describeDevice({ device, memory }: DeviceFigures): string {
  const found = memory[0]?.devices ?? [];
  const named = found.map(({ name, driver }) => `${name}, driver ${driver}`).join('; ');
  const told = device === 'cpu' ? 'the processor, with runs that rows share, in full precision' : device;
  return `device: ${told}${named === '' ? '' : ` (${named})`}; processor: cpu, int8`;
}

function formatParity({ requests, sharedReplies, full, int8 }: DeviceFigures['parity']): string {
  const head = ['answers beside', 'questions', 'same', 'mean shift', 'largest', 'vectors', 'least cosine'];
  const rows = Object.entries({ 'full precision, a row a run': full, int8 }).map(([name, parity]): Cell[] => {
    const { questions, same, vectors, meanShift, largestShift, smallestCosine } = parity;
    const shifts = [meanShift, largestShift].map((shift) => shift.toExponential(1));
    return [name, questions, same, ...shifts, vectors, smallestCosine.toFixed(6)];
  });
  return `${formatTable([head, ...rows])}\n${sharedReplies} of ${requests} requests shared runs`;
}

function formatThroughput({ throughput: { cells, leftOut, ratios } }: DeviceFigures): string {
  const head = ['load', 'at a time', 'server', 'req/s', 'tokens/s', 'p50 ms', 'p95 ms', 'p99 ms', 'refused', 'errors'];
  const rows = cells.map((cell): Cell[] => {
    const { p50Ms, p95Ms, p99Ms } = cell.latency;
    const rates = [cell.requestsPerSecond, Math.round(cell.tokensPerSecond)];
    return [cell.load, cell.concurrency, cell.peer, ...rates, p50Ms, p95Ms, p99Ms, cell.refused, cell.errors];
  });
  const tooDear = leftOut.map(({ load, concurrency, peer, sliceMs }): Cell[] => [
    load,
    concurrency,
    peer,
    sliceMs / 1000,
  ]);
  const over = ratios.map(({ load, concurrency, ratio }): Cell[] => [load, String(concurrency), ratio]);
  return [
    formatTable([head, ...rows]),
    ...(tooDear.length === 0
      ? []
      : [formatTable([['left out', 'at a time', 'server', 'a slice would take, s'], ...tooDear])]),
    formatTable([['load', 'at a time', 'device over processor, ×'], ...over]),
  ].join('\n\n');
}

function formatOverload({ capacities, cells, concurrency }: DeviceFigures['overload']): string {
  const capacityRows = capacities.map(({ load, peer, requestsPerSecond }): Cell[] => [load, peer, requestsPerSecond]);
  const head = ['load', '× capacity', 'server', 'deadline', 'offered/s', 'good/s', 'p50 ms', 'p95 ms', 'p99 ms'];
  const rows = cells.map((cell): Cell[] => {
    const { p50Ms, p95Ms, p99Ms } = cell.latency;
    const rates = [cell.offeredPerSecond, cell.goodPerSecond];
    const ends = [cell.refusedShare, cell.refusal.p99Ms, cell.givenUp, cell.failed];
    const deadline = cell.hasDeadline ? '200 ms' : 'none';
    return [cell.load, cell.share, cell.peer, deadline, ...rates, p50Ms, p95Ms, p99Ms, ...ends];
  });
  return [
    formatTable([['load', 'server', `capacity, req/s (${concurrency} at a time)`], ...capacityRows]),
    formatTable([[...head, 'refused', 'no: p99 ms', 'given up', 'failed'], ...rows]),
  ].join('\n\n');
}

function formatBatches(cells: DeviceFigures['batches']): string {
  const head = ['load', 'at a time', 'one run takes', 'req/s', 'p50 ms', 'p99 ms', 'over a row by itself, ×'];
  const rows = cells.map(({ load, concurrency, peer, requestsPerSecond, latency, ratio }): Cell[] => {
    return [load, concurrency, peer, requestsPerSecond, latency.p50Ms, latency.p99Ms, ratio];
  });
  return formatTable([head, ...rows]);
}

function formatMemory({ memory, servers }: DeviceFigures): string {
  const own = servers.map(({ name, readyMs, startedBytes, loadedBytes }): Cell[] => {
    return [name, readyMs.secondMs, toMegabytes(startedBytes), toMegabytes(loadedBytes)];
  });
  const noted = memory.flatMap(({ moment, devices }) =>
    devices.map(({ name, usedBytes, totalBytes }): Cell[] => [
      moment,
      name,
      toMegabytes(usedBytes),
      toMegabytes(totalBytes),
    ]),
  );
  const ofDevice =
    noted.length === 0
      ? 'memory of the device: nobody tells (no nvidia-smi)'
      : formatTable([['memory of the device', 'which', 'in use, MB', 'of MB'], ...noted]);
  return [formatTable([['server', 'ready, ms', 'memory, MB', 'after load, MB'], ...own]), ofDevice].join('\n\n');
}
