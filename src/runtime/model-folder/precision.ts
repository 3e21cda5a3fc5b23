// Which of a model's graphs a device runs: int8 is for processors, fp16 for accelerators, fp32 for both. Pure.

import type { ModelFolder } from './manifest.ts';

const CPU_PRECISIONS = ['int8', 'fp32'];
const DEVICE_PRECISIONS = ['fp16', 'fp32'];

/**
 * @param sharesRuns whether rows share runs on a processor, too: int8, which scales by the whole of a run, comes last then
 * @returns the first precision the device prefers that the model has
 */
export function findPrecision(
  { manifest }: Pick<ModelFolder, 'manifest'>,
  device: string,
  sharesRuns = false,
): string | undefined {
  const ofProcessor = sharesRuns ? CPU_PRECISIONS.toReversed() : CPU_PRECISIONS;
  const preferred = device === 'cpu' ? ofProcessor : DEVICE_PRECISIONS;
  return preferred.find((precision) => manifest.graphs[precision] !== undefined);
}

/** A model without graphs for a device runs on the CPU beside others that have them. */
export function deviceOfModel(folder: Pick<ModelFolder, 'manifest'>, device: string): string {
  return findPrecision(folder, device) === undefined ? 'cpu' : device;
}
