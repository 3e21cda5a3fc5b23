// Whether a model's tasks share runs in this worker, and which of its graphs that takes.

import { join } from 'node:path';
import { toDeviceError } from './device-faults.ts';
import { DeviceSession } from './device-session.ts';
import type { BatchSetup } from './messages.ts';
import type { GraphFiles, ModelFolder } from './model-folder/manifest.ts';
import { type GraphSession, openGraph, type SessionSettings } from './session.ts';

export interface SharingSettings extends SessionSettings {
  /** Default: never */
  readonly batch?: BatchSetup | undefined;
}

/** For the graphs of one precision. */
interface PrecisionSettings extends SharingSettings {
  readonly precision: string;
}

export interface RunSharing extends Pick<BatchSetup, 'tokens' | 'isExact'> {
  /** Opens a graph in full precision when it is first asked for; undefined: there is none. */
  readonly precise: (role: string) => Promise<GraphSession | undefined>;
  /** Ends what was opened so. */
  readonly close: () => Promise<void>;
}

/** @returns undefined: each row runs by itself */
export function sharingOf(folder: ModelFolder, settings: PrecisionSettings): RunSharing | undefined {
  const { batch, precision } = settings;
  if (batch === undefined || !canShare(settings)) return undefined;
  const opened = new Map<string, Promise<GraphSession>>();
  const open = async (role: string, path: string): Promise<GraphSession> => {
    try {
      return new DeviceSession(await openGraph(path, settings), batch.slots);
    } catch (error) {
      // There may be room for it later.
      opened.delete(role);
      throw toDeviceError(error);
    }
  };
  const precise = async (role: string): Promise<GraphSession | undefined> => {
    const name = folder.manifest.graphs['fp32']?.[role];
    if (name === undefined || precision === 'fp32') return undefined;
    const session = opened.get(role) ?? open(role, join(folder.path, name));
    opened.set(role, session);
    return await session;
  };
  const close = async (): Promise<void> => {
    for (const session of await Promise.allSettled(opened.values())) {
      if (session.status === 'fulfilled') await session.value.close();
    }
    opened.clear();
  };
  return { tokens: batch.tokens, isExact: batch.isExact, precise, close };
}

/** Where rows are answered in shared runs, what takes one at a time is not loaded, and the other way round. */
export function rolesInUse(files: GraphFiles, settings: PrecisionSettings): GraphFiles {
  const { batch, 'head-rows': headRows, ...others } = files;
  return canShare(settings) && batch !== undefined && headRows !== undefined
    ? { batch, 'head-rows': headRows }
    : others;
}

/** The same sessions; on a device no more runs at once than it is meant to have. */
export function inTurns(
  sessions: ReadonlyMap<string, GraphSession>,
  { batch, device }: SharingSettings,
): ReadonlyMap<string, GraphSession> {
  if (batch === undefined || !isDevice(device, batch)) return sessions;
  return new Map([...sessions].map(([role, session]) => [role, new DeviceSession(session, batch.slots)]));
}

/** int8 scales by the whole of a run: its rows cannot share one. */
function canShare({ batch, device, precision }: PrecisionSettings): boolean {
  return batch !== undefined && precision !== 'int8' && isDevice(device, batch);
}

function isDevice(device: string, { isForced }: BatchSetup): boolean {
  return device !== 'cpu' || isForced;
}
