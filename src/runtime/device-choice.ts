// Which device models run on, and why. What it takes to try one is handed in: session.ts's, of which no other thread than
// a worker's may know.

import { join } from 'node:path';
import { messageOf } from '../domain/errors.ts';
import { explainCuda, hasDriver } from './cuda/cuda-lacks.ts';
import type { FoundCuda } from './cuda/find-cuda.ts';
import type { ModelFolder } from './model-folder/manifest.ts';
import { findPrecision } from './model-folder/precision.ts';
import { StartError } from './start-error.ts';

export interface DeviceRequest {
  /** `auto`, or an execution provider. */
  readonly requested: string;
  /** Whether a named device that cannot be used may be replaced by the CPU. */
  readonly allowFallback: boolean;
  readonly models: readonly ModelFolder[];
  readonly cuda: FoundCuda;
  /** Opens a graph on a device, and closes it. Rejects with the reason why that cannot be. */
  readonly tryGraph: (path: string, device: string) => Promise<void>;
}

export interface DeviceChoice {
  /** Of every model that has graphs for it. */
  readonly device: string;
  /** What the operator should know. */
  readonly note?: string;
  readonly warning?: string;
}

const CPU = 'cpu';
const CUDA = 'cuda';

/**
 * `auto` takes CUDA where its provider is there and loads, else the CPU; a named device is tried. Either runs a real graph
 * of these models. @throws StartError when a named device cannot be used and no fallback is allowed
 */
export async function chooseDevice(request: DeviceRequest): Promise<DeviceChoice> {
  const { requested, allowFallback, models } = request;
  if (requested === CPU) return { device: CPU };
  if (requested === 'auto') return await chooseByItself(request);
  const lacking = lackingGraphs(models, requested);
  if (lacking.length > 0 && !allowFallback) throw new StartError(unusable(requested, describeLack(lacking)));
  const fault = await findFault(requested, request);
  if (fault === undefined) {
    const warning = `device ${requested}: ${describeLack(lacking)}; cpu for these`;
    return lacking.length > 0 ? { device: requested, warning } : { device: requested };
  }
  if (allowFallback) return { device: CPU, warning: `${unusable(requested, fault)}; cpu instead` };
  throw new StartError(unusable(requested, fault));
}

async function chooseByItself(request: DeviceRequest): Promise<DeviceChoice> {
  const { cuda, models } = request;
  if (!('provider' in cuda)) return chooseWithout(cuda);
  const lacking = lackingGraphs(models, CUDA);
  if (lacking.length === models.length)
    return autoChoice(CPU, 'no model has fp16 or fp32 graphs, which CUDA would run');
  const fault = await findFault(CUDA, request);
  if (fault !== undefined) return { device: CPU, warning: `device: cpu (auto: CUDA cannot be used: ${fault})` };
  return autoChoice(CUDA, lacking.length === 0 ? 'it works' : `it works; ${describeLack(lacking)}; cpu for these`);
}

/** Most machines without a provider have no GPU either, and their operators need no advice. */
function chooseWithout({ reason, isAbsent }: Exclude<FoundCuda, { provider: string }>): DeviceChoice {
  if (!isAbsent) return { device: CPU, warning: `device: cpu (auto: CUDA cannot be used: ${reason})` };
  return autoChoice(CPU, hasDriver() ? `an NVIDIA driver is here, but ${reason}` : 'no NVIDIA driver is here');
}

function autoChoice(device: string, reason: string): DeviceChoice {
  return { device, note: `device: ${device} (auto: ${reason})` };
}

async function findFault(device: string, { models, cuda, tryGraph }: DeviceRequest): Promise<string | undefined> {
  const path = models.map((folder) => findGraph(folder, device)).find((found) => found !== undefined);
  if (path === undefined) return describeLack(lackingGraphs(models, device));
  if (device === CUDA && !('provider' in cuda)) return cuda.reason;
  try {
    await tryGraph(path, device);
    return undefined;
  } catch (error) {
    return (device === CUDA ? explainCuda(cuda) : undefined) ?? messageOf(error);
  }
}

function findGraph(folder: ModelFolder, device: string): string | undefined {
  const [name] = Object.values(folder.manifest.graphs[findPrecision(folder, device) ?? ''] ?? {});
  return name === undefined ? undefined : join(folder.path, name);
}

/** @returns ids */
function lackingGraphs(models: readonly ModelFolder[], device: string): readonly string[] {
  return models.filter((folder) => findPrecision(folder, device) === undefined).map(({ manifest }) => manifest.id);
}

function describeLack(ids: readonly string[]): string {
  return `no fp16 or fp32 graphs in ${ids.join(', ')}`;
}

function unusable(device: string, reason: string): string {
  return `device ${device} cannot be used: ${reason}`;
}
