// Which of a model's graphs a device runs: int8 is for processors, fp16 for accelerators, fp32 for both. Pure.

import type { ModelFolder } from './manifest.ts';

const CPU_PRECISIONS = ['int8', 'fp32'];
const DEVICE_PRECISIONS = ['fp16', 'fp32'];

/** @returns the first precision the device prefers that the model has */
export function findPrecision({ manifest }: Pick<ModelFolder, 'manifest'>, device: string): string | undefined {
  const preferred = device === 'cpu' ? CPU_PRECISIONS : DEVICE_PRECISIONS;
  return preferred.find((precision) => manifest.graphs[precision] !== undefined);
}

/** A model without graphs for a device runs on the CPU beside others that have them. */
export function deviceOfModel(folder: Pick<ModelFolder, 'manifest'>, device: string): string {
  return findPrecision(folder, device) === undefined ? 'cpu' : device;
}
