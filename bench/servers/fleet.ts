// The servers of one comparison while they run side by side: started twice, warmed up, one under load at a time in turns that
// go round. A server that burns CPU while it is idle is stopped while others work.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BenchClient } from '../load/client.ts';
import { sumCpuMs } from './cpu-time.ts';
import type { Peer, RunningPeer } from './peer.ts';

/** Of one core. More would take part in what is measured of others. */
const MAX_IDLE_SHARE = 0.01;
const IDLE_WATCH_MS = 1000;

export interface ReadyTimes {
  /** In an empty data folder; with what the first start kept there. */
  readonly firstMs: number;
  readonly secondMs: number;
}

export interface Member {
  readonly id: string;
  readonly running: RunningPeer;
  readonly client: BenchClient;
  readonly readyMs: ReadyTimes;
  /** Memory of all its processes, shared pages counted once; null where the system does not say. */
  readonly startedBytes: number | null;
  /** CPU while nobody asked it, as a share of one core. */
  idleShare: number;
}

export class Fleet {
  readonly members: readonly Member[];
  readonly #folder: string;

  private constructor(members: readonly Member[], folder: string) {
    this.members = members;
    this.#folder = folder;
  }

  /** @param say tells what is being started */
  static async start(peers: readonly Peer[], say: (text: string) => void): Promise<Fleet> {
    const folder = mkdtempSync(join(tmpdir(), 'umpire-peers-'));
    // Also when a signal ends the bench.
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
    const members: Member[] = [];
    const fleet = new Fleet(members, folder);
    try {
      for (const peer of peers) {
        say(`starting ${peer.id}`);
        members.push(await startTwice(peer, join(folder, peer.id)));
      }
    } catch (error) {
      await fleet.stop();
      throw error;
    }
    return fleet;
  }

  /** Rejects when one of them ends before it was told to. */
  get lost(): Promise<never> {
    return Promise.race(this.members.map(({ running }) => running.server.lost));
  }

  /** To be called when all are warm. */
  async watchIdle(): Promise<void> {
    for (const member of this.members) {
      const before = sumCpuMs(member.running.server.pids());
      const startedMs = performance.now();
      await sleep(IDLE_WATCH_MS);
      const usedMs = sumCpuMs(member.running.server.pids()) - before;
      member.idleShare = usedMs / (performance.now() - startedMs);
    }
  }

  /** Every member once a round, in an order that goes round; nobody else works meanwhile. */
  async inTurns(rounds: number, measure: (member: Member, round: number) => Promise<void>): Promise<void> {
    for (let round = 0; round < rounds; round++) {
      const order = this.members.map((_, turn) => this.members[(turn + round) % this.members.length]);
      for (const member of order) if (member !== undefined) await this.alone(member, () => measure(member, round));
    }
  }

  async alone<T>(member: Member, work: () => Promise<T>): Promise<T> {
    const busyOnes = this.members.filter((other) => other !== member && other.idleShare > MAX_IDLE_SHARE);
    signalAll(busyOnes, 'SIGSTOP');
    try {
      return await work();
    } finally {
      signalAll(busyOnes, 'SIGCONT');
    }
  }

  async stop(): Promise<void> {
    for (const { client, running } of this.members) {
      await client.close();
      await running.stop();
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** For a bench that failed half-way. */
  kill(): void {
    for (const { running } of this.members) running.server.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

async function startTwice(peer: Peer, dataFolder: string): Promise<Member> {
  mkdirSync(dataFolder, { mode: 0o700 });
  const first = await peer.start(dataFolder);
  const firstMs = first.server.readyMs;
  await first.stop();
  const running = await peer.start(dataFolder);
  return {
    id: peer.id,
    running,
    client: new BenchClient(running.origin, running.apiKey, null),
    readyMs: { firstMs, secondMs: running.server.readyMs },
    startedBytes: running.server.proportionalBytes() ?? null,
    idleShare: 0,
  };
}

function signalAll(members: readonly Member[], signal: 'SIGSTOP' | 'SIGCONT'): void {
  for (const pid of members.flatMap(({ running }) => running.server.pids())) {
    try {
      process.kill(pid, signal);
    } catch {
      // A child of a server that ended in the meantime needs no signal.
    }
  }
}
