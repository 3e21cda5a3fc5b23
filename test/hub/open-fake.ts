// A hub and whoever pulls from it, for one test: no wait between tries takes any time, and each is written down.

import { type Hub, type HubSettings, openHub } from '../../src/hub/hub.ts';
import { type FakeHub, type FakeHubOptions, startFakeHub } from './fake-hub.ts';

export interface PulledHub {
  readonly fake: FakeHub;
  readonly hub: Hub;
  /** What was waited between tries, in milliseconds. */
  readonly waits: number[];
  close(): Promise<void>;
}

export function settingsFor(endpoint: string): HubSettings {
  return {
    endpoint,
    token: undefined,
    isOffline: false,
    answerTimeoutMs: 10_000,
    stallTimeoutMs: 10_000,
    proxies: { http: '', https: '', none: '' },
  };
}

export async function openFake(options: FakeHubOptions, settings: Partial<HubSettings> = {}): Promise<PulledHub> {
  const fake = await startFakeHub(options);
  const waits: number[] = [];
  const pause = async (ms: number, signal: AbortSignal | undefined): Promise<void> => {
    signal?.throwIfAborted();
    waits.push(ms);
  };
  const hub = openHub({ ...settingsFor(fake.endpoint), ...settings }, { pause });
  const close = async (): Promise<void> => {
    await hub.close();
    await fake.close();
  };
  return { fake, hub, waits, close };
}
