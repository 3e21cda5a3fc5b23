// Many mixed requests by many clients, some of whom leave: what was answered, what was not as it should be, and the server's memory
// along the way.

import { BenchClient } from '../../bench/load/client.ts';
import { makeRandom } from '../../bench/load/workload.ts';
import { findMemoryUse } from '../../bench/machine/processes.ts';
import { ADMIN_KEY } from '../money/fleet.ts';
import { type IssuedKey, issueKey } from '../money/issue-key.ts';
import { runUmpire } from '../process/run-umpire.ts';
import { type Environment, type Exit, ServerProcess } from '../process/server-process.ts';
import {
  decisionOf,
  embeddingOf,
  faulty,
  type MixedRequest,
  mixRequests,
  type Recipe,
  repeated,
} from './mixed-requests.ts';

const CLIENTS = 8;
const LEAVING_SHARE = 0.02;
const SAMPLES = 200;

/** Mostly short: it is the number of requests that counts here. */
const RECIPE: Recipe = [
  [0.6, decisionOf(1, 60)],
  [0.8, embeddingOf(4, 60)],
  [0.9, repeated],
  [0.95, faulty],
  [0.98, decisionOf(60, 600)],
  [0.985, decisionOf(600, 3000)],
  [1, embeddingOf(32, 250)],
];

/** What is kept is full long before half of the requests are through. */
const SETTINGS: Environment = {
  UMPIRE_API_KEY: ADMIN_KEY,
  UMPIRE_ANSWERS_CACHE_BYTES: '1048576',
  UMPIRE_ENGINE_STATE_CACHE_BYTES: '33554432',
};

export interface MemorySample {
  /** Requests that had ended. */
  readonly requests: number;
  readonly residentBytes: number;
  /** Shared pages once. */
  readonly distinctBytes: number;
}

export interface SoakRun {
  readonly requests: number;
  readonly left: number;
  readonly byStatus: Readonly<Record<string, number>>;
  /** Replies with a status that is not right for their request. */
  readonly failures: readonly string[];
  readonly memory: readonly MemorySample[];
  readonly exit: Exit;
  /** Of `umpire db check` afterwards. */
  readonly check: { readonly code: number | null; readonly text: string };
  readonly elapsedMs: number;
}

export async function soak(requests: number): Promise<SoakRun> {
  const server = new ServerProcess(SETTINGS);
  try {
    const address = await server.ready();
    const keys = await Promise.all(Array.from({ length: 3 }, () => issueKey(address)));
    const startedMs = performance.now();
    const crowd = new SoakCrowd({ address, keys, requests, pid: server.pid ?? 0 });
    await crowd.run();
    const elapsedMs = performance.now() - startedMs;
    const exit = await server.stop();
    const { code, out, error } = await runUmpire(['db', 'check'], {
      cwd: server.dataDir,
      env: { UMPIRE_DATA_DIR: server.dataDir },
    });
    return { ...crowd.result, requests, exit, check: { code, text: out + error }, elapsedMs };
  } finally {
    await server.dispose();
  }
}

interface CrowdOptions {
  readonly address: string;
  readonly keys: readonly IssuedKey[];
  readonly requests: number;
  readonly pid: number;
}

class SoakCrowd {
  readonly result = {
    left: 0,
    byStatus: {} as Record<string, number>,
    failures: [] as string[],
    memory: [] as MemorySample[],
  };
  readonly #options: CrowdOptions;
  readonly #next = mixRequests(RECIPE, 100_000);
  readonly #random = makeRandom(77);
  /** Of clients who leave when somebody else's request ends. */
  readonly #leaving = new Set<AbortController>();
  #started = 0;
  #ended = 0;

  constructor(options: CrowdOptions) {
    this.#options = options;
  }

  async run(): Promise<void> {
    await Promise.all(Array.from({ length: CLIENTS }, (_, index) => this.#runClient(index)));
  }

  async #runClient(index: number): Promise<void> {
    const { address, keys, requests } = this.#options;
    const secret = keys[index % keys.length]?.secret ?? '';
    const client = new BenchClient(address, secret, null);
    while (this.#started < requests) {
      this.#started++;
      const request = this.#next();
      if (this.#random() < LEAVING_SHARE) await this.#leave(secret, request);
      else await this.#send(client, request);
      this.#end();
    }
    await client.close();
  }

  async #send(client: BenchClient, { path, body, expected }: MixedRequest): Promise<void> {
    const reply = await client.post(path, body);
    this.#count(String(reply.status));
    if (!expected.includes(reply.status)) this.result.failures.push(`${reply.status} ${reply.text.slice(0, 300)}`);
  }

  /** In the middle of work, whatever the machine's speed: when the next request of anybody has ended. */
  async #leave(secret: string, { path, body }: MixedRequest): Promise<void> {
    const controller = new AbortController();
    this.#leaving.add(controller);
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    const url = `${this.#options.address}${path}`;
    try {
      const reply = await fetch(url, { method: 'POST', headers, body, signal: controller.signal });
      await reply.arrayBuffer();
      this.#count(String(reply.status));
    } catch {
      this.result.left++;
    } finally {
      this.#leaving.delete(controller);
    }
  }

  #count(status: string): void {
    this.result.byStatus[status] = (this.result.byStatus[status] ?? 0) + 1;
  }

  #end(): void {
    this.#ended++;
    for (const controller of this.#leaving) controller.abort();
    const { requests, pid } = this.#options;
    const every = Math.max(1, Math.floor(requests / SAMPLES));
    if (this.#ended % every !== 0) return;
    const use = findMemoryUse(pid);
    if (use === undefined) return;
    const { residentBytes, distinctBytes } = use;
    this.result.memory.push({ requests: this.#ended, residentBytes, distinctBytes });
  }
}
