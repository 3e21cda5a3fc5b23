// What NVIDIA's driver tells of its devices: which they are, and how much of their memory is in use, by whomever. Nothing where
// there is none.

import { execFileSync } from 'node:child_process';

const QUERY = ['--query-gpu=name,driver_version,memory.used,memory.total', '--format=csv,noheader,nounits'];
const MEBIBYTE = 1024 * 1024;

export interface DeviceUse {
  readonly name: string;
  /** Version of the driver. */
  readonly driver: string;
  readonly usedBytes: number;
  readonly totalBytes: number;
}

/** Every device of the machine; none where the driver does not tell. */
export function readDevices(): readonly DeviceUse[] {
  try {
    return parseDevices(execFileSync('nvidia-smi', QUERY, { encoding: 'utf8', stdio: 'pipe' }));
  } catch {
    return [];
  }
}

/** A device to a line; where memory is shared with the processor, the driver writes `[N/A]`, which is NaN here. */
export function parseDevices(csv: string): DeviceUse[] {
  const lines = csv.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => {
    const [name = '', driver = '', used, total] = line.split(',').map((cell) => cell.trim());
    return { name, driver, usedBytes: toBytes(used), totalBytes: toBytes(total) };
  });
}

function toBytes(mebibytes: string | undefined): number {
  return MEBIBYTE * Number.parseInt(mebibytes ?? '', 10);
}

/** Of all devices together; NaN where nobody tells. */
export function sumUsedBytes(devices: readonly DeviceUse[]): number {
  return devices.length === 0 ? Number.NaN : devices.reduce((total, { usedBytes }) => total + usedBytes, 0);
}
