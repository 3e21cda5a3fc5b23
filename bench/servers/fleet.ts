// The servers of one comparison while they run side by side: started twice, one under load at a time in turns that go round.
// A server that burns CPU while it is idle is stopped while others work.

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BenchClient } from '../load/client.ts';
import { sumCpuMs } from '../machine/cpu-time.ts';
import { API_KEY, type Server, startServer } from './server.ts';
import type { ServerProcess } from './server-process.ts';
import { withFolder } from './umpire.ts';

/** Of one core. More would take part in what is measured of others. */
const MAX_IDLE_SHARE = 0.01;
const IDLE_WATCH_MS = 1000;

export interface Member {
  readonly server: Server;
  readonly process: ServerProcess;
  readonly client: BenchClient;
  /** In an empty data folder; with what the first start kept there. */
  readonly readyMs: { readonly firstMs: number; readonly secondMs: number };
  /** Memory of all its processes, shared pages counted once; null where the system does not say. */
  readonly startedBytes: number | null;
  /** CPU while nobody asked it, as a share of one core. */
  idleShare: number;
}

export interface Turns {
  readonly members: readonly Member[];
  /** Every member once a round, in an order that goes round; nobody else works meanwhile. */
  inTurns(rounds: number, measure: (member: Member, round: number) => Promise<void>): Promise<void>;
}

/** Runs while it is used. @throws if one cannot be started, or ends early */
export async function withFleet<T>(
  servers: readonly Server[],
  say: (text: string) => void,
  use: (fleet: Fleet) => Promise<T>,
): Promise<T> {
  return await withFolder(async (folder) => {
    const members: Member[] = [];
    try {
      for (const server of servers) {
        say(`starting ${server.id}`);
        members.push(await startTwice(server, join(folder, server.id)));
      }
      const lost = members.map((member) => member.process.lost);
      const result = await Promise.race([use(new Fleet(members)), ...lost]);
      for (const member of members) {
        await member.client.close();
        await member.process.stop();
      }
      return result;
    } finally {
      for (const member of members) member.process.kill();
    }
  });
}

export class Fleet implements Turns {
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

  async inTurns(rounds: number, measure: (member: Member, round: number) => Promise<void>): Promise<void> {
    for (let round = 0; round < rounds; round++) {
      const first = round % Math.max(1, this.members.length);
      for (const member of [...this.members.slice(first), ...this.members.slice(0, first)])
        await this.#alone(member, () => measure(member, round));
    }
  }

  async #alone(member: Member, work: () => Promise<void>): Promise<void> {
    const busyOnes = this.members.filter((other) => other !== member && other.idleShare > MAX_IDLE_SHARE);
    signalAll(busyOnes, 'SIGSTOP');
    try {
      await work();
    } finally {
      signalAll(busyOnes, 'SIGCONT');
    }
  }
}

async function startTwice(server: Server, dataFolder: string): Promise<Member> {
  const first = await startServer(server, dataFolder);
  await first.stop();
  const running = await startServer(server, dataFolder);
  return {
    server,
    process: running,
    client: new BenchClient(running.origin, API_KEY, null),
    readyMs: { firstMs: first.readyMs, secondMs: running.readyMs },
    startedBytes: running.proportionalBytes(),
    idleShare: 0,
  };
}

function signalAll(members: readonly Member[], signal: 'SIGSTOP' | 'SIGCONT'): void {
  for (const pid of members.flatMap((member) => member.process.pids())) {
    try {
      process.kill(pid, signal);
    } catch {
      // A child of a server that ended in the meantime needs no signal.
    }
  }
}
