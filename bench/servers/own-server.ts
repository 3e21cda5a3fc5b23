// Our server by itself, for what only we can be asked: a data folder of its own, a key with a budget and every limit.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BenchClient } from '../load/client.ts';
import { createMeteredKey } from './metered-key.ts';
import type { RunningPeer } from './peer.ts';
import { makeUmpirePeer } from './umpire-peer.ts';

export type Settings = Readonly<Record<string, string>>;

export interface OwnServer {
  readonly running: RunningPeer;
  /** With the metered key. */
  readonly client: BenchClient;
  readonly dataFolder: string;
}

/** @param settings instead of those it has among its peers @param dataFolder of an earlier start, or a new one */
export async function withOwnServer<T>(settings: Settings, use: (own: OwnServer) => Promise<T>): Promise<T> {
  return await withDataFolder((dataFolder) => startOwnServer(settings, dataFolder, use));
}

/** A new folder, removed afterwards. */
export async function withDataFolder<T>(use: (dataFolder: string) => Promise<T>): Promise<T> {
  const parent = mkdtempSync(join(tmpdir(), 'umpire-own-'));
  const dataFolder = join(parent, 'data');
  mkdirSync(dataFolder, { mode: 0o700 });
  try {
    return await use(dataFolder);
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
}

export async function startOwnServer<T>(
  settings: Settings,
  dataFolder: string,
  use: (own: OwnServer) => Promise<T>,
): Promise<T> {
  const running = await makeUmpirePeer(settings).start(dataFolder);
  try {
    const client = new BenchClient(running.origin, createMeteredKey({ dataDir: dataFolder, settings }), null);
    const result = await Promise.race([use({ running, client, dataFolder }), running.server.lost]);
    await client.close();
    await running.stop();
    return result;
  } catch (error) {
    running.server.kill();
    throw error;
  }
}
