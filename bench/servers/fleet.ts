// Servers while they run side by side: started, asked in turns that go round, and ended. One that burns CPU while it is idle is
// stopped while others work.

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BenchClient } from '../load/client.ts';
import { withFolder } from '../machine/folder.ts';
import { sumCpuMs } from '../machine/processes.ts';
import { API_KEY, type Server } from './server.ts';
import { ServerProcess } from './server-process.ts';

/** Of one core. More would take part in what is measured of others. */
const MAX_IDLE_SHARE = 0.01;
const IDLE_WATCH_MS = 1000;

export interface Member {
  /** Among the servers that run beside it. */
  readonly name: string;
  readonly server: Server;
  readonly process: ServerProcess;
  readonly client: BenchClient;
  readonly dataFolder: string;
  /** In an empty data folder; with what the first start kept there. The same where it is started once. */
  readonly readyMs: { readonly firstMs: number; readonly secondMs: number };
  /** Memory of all its processes, shared pages counted once; null where the system does not say. */
  readonly startedBytes: number | null;
  /** CPU while nobody asked it, as a share of one core. */
  idleShare: number;
}

export interface FleetOptions {
  readonly say?: (text: string) => void;
  /** What the first start keeps there makes the second one faster. */
  readonly startsTwice?: boolean;
  /** Of an earlier fleet; default: a new one, removed afterwards. */
  readonly folder?: string;
}

/** Servers by their names, running while they are used. @throws if one cannot be started, ends before, or not as it should */
export async function withServers<Name extends string, T>(
  servers: Readonly<Record<Name, Server>>,
  use: (members: Readonly<Record<Name, Member>>, fleet: Fleet) => Promise<T>,
  options: FleetOptions = {},
): Promise<T> {
  const { folder, say } = options;
  if (folder === undefined)
    return await withFolder((newFolder) => withServers(servers, use, { ...options, folder: newFolder }));
  const members: Member[] = [];
  try {
    for (const [name, server] of Object.entries<Server>(servers)) {
      say?.(`starting ${name}`);
      members.push(await startMember(name, server, { ...options, folder }));
    }
    const byName = Object.fromEntries(members.map((member) => [member.name, member])) as Record<Name, Member>;
    const lost = members.map((member) => member.process.lost);
    const result = await Promise.race([use(byName, new Fleet(members)), ...lost]);
    for (const { client, process } of members) {
      await client.close();
      await process.stop();
    }
    return result;
  } finally {
    for (const { process } of members) process.kill();
  }
}

export class Fleet {
  readonly members: readonly Member[];

  constructor(members: readonly Member[]) {
    this.members = members;
  }

  /** To be called when all are warm. */
  async watchIdle(): Promise<void> {
    for (const member of this.members) {
      const before = sumCpuMs(member.process.pids());
      const startedMs = performance.now();
      await sleep(IDLE_WATCH_MS);
      const usedMs = sumCpuMs(member.process.pids()) - before;
      member.idleShare = usedMs / (performance.now() - startedMs);
    }
  }

  /**
   * Every member once a round; nobody else works meanwhile. Nobody always comes first, nor always after the same one.
   * @returns what was measured of each, by name, in the order of the rounds; nothing of whom it was undefined
   */
  async inTurns<T>(
    rounds: number,
    measure: (member: Member, round: number) => Promise<T | undefined>,
  ): Promise<Map<string, T[]>> {
    const samples = new Map<string, T[]>();
    for (let round = 0; round < rounds; round++) {
      const first = round % Math.max(1, this.members.length);
      const order = [...this.members.slice(first), ...this.members.slice(0, first)];
      for (const member of round % 2 === 0 ? order : order.toReversed()) {
        const sample = await this.#alone(member, () => measure(member, round));
        if (sample !== undefined) samples.set(member.name, [...(samples.get(member.name) ?? []), sample]);
      }
    }
    // By member, whoever came first.
    return new Map(this.members.flatMap(({ name }) => (samples.has(name) ? [[name, samples.get(name) ?? []]] : [])));
  }

  async #alone<T>(member: Member, work: () => Promise<T>): Promise<T> {
    const busyOnes = this.members.filter((other) => other !== member && other.idleShare > MAX_IDLE_SHARE);
    for (const { process } of busyOnes) process.signal('SIGSTOP');
    try {
      return await work();
    } finally {
      for (const { process } of busyOnes) process.signal('SIGCONT');
    }
  }
}

async function startMember(
  name: string,
  server: Server,
  { folder, startsTwice = false }: FleetOptions & { readonly folder: string },
): Promise<Member> {
  const dataFolder = join(folder, name);
  let process = await ServerProcess.start(server, dataFolder);
  const firstMs = process.readyMs;
  if (startsTwice) {
    await process.stop();
    process = await ServerProcess.start(server, dataFolder);
  }
  return {
    name,
    server,
    process,
    client: new BenchClient(process.origin, server.makeKey?.(dataFolder) ?? API_KEY, null),
    dataFolder,
    readyMs: { firstMs, secondMs: process.readyMs },
    startedBytes: process.proportionalBytes(),
    idleShare: 0,
  };
}
