// Whether the machine was quiet: what others used of the processors while something was measured, which is what the system says
// all used, less what this process and all it started used. A page of a noisy machine is not written, unless it is asked for.

import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatPercent } from '../pages/table.ts';
import { listProcesses, readStat } from './processes.ts';
import { ToldFault } from './told-fault.ts';

/** Of the time of all processors. The kernel's own housekeeping is below it; a busy browser, a build, another bench are above. */
export const MAX_OTHERS_SHARE = 0.05;
const FIRST_LOOK_MS = 2000;

/** In ticks of the system's clock, since it was started. */
interface Ticks {
  readonly all: number;
  readonly busy: number;
  readonly ours: number;
}

export class QuietWatch {
  readonly #start = readTicks();

  /** Share of all processors' time that others used since the watch began; null where the system does not say. */
  othersShare(): number | null {
    const end = readTicks();
    return this.#start === undefined || end === undefined ? null : shareOfOthers(this.#start, end);
  }
}

/** A look before anything is measured. @throws NoisyMachine unless it is quiet, or `isNoisyAllowed` */
export async function expectQuiet(isNoisyAllowed: boolean): Promise<void> {
  if (isNoisyAllowed) return;
  const watch = new QuietWatch();
  await sleep(FIRST_LOOK_MS);
  requireQuiet(watch.othersShare(), isNoisyAllowed);
}

export class NoisyMachine extends ToldFault {}

/** @throws NoisyMachine unless it was quiet, or `isNoisyAllowed` */
export function requireQuiet(othersShare: number | null, isNoisyAllowed: boolean): void {
  if (isNoisyAllowed || isQuiet(othersShare)) return;
  const measured = othersShare === null ? 'cannot be read on this system' : `was ${formatPercent(othersShare)}`;
  throw new NoisyMachine(
    `Not written: what others used of the processors ${measured}, and may be ${formatPercent(MAX_OTHERS_SHARE)} at most. ` +
      'Measure on a machine that does nothing else, or add --noisy, which the page then says.',
  );
}

/** What is not known is not quiet. */
export function isQuiet(othersShare: number | null): boolean {
  return othersShare !== null && othersShare <= MAX_OTHERS_SHARE;
}

/** Clocks of processes and of processors are not the same one: a little less than nothing is nothing. */
export function shareOfOthers(start: Ticks, end: Ticks): number {
  const others = end.busy - start.busy - (end.ours - start.ours);
  return Math.max(0, others) / Math.max(1, end.all - start.all);
}

/** undefined where the system does not say. */
function readTicks(): Ticks | undefined {
  try {
    return { ...parseProcessors(readFileSync('/proc/stat', 'utf8')), ours: readOwnTicks() };
  } catch {
    return undefined;
  }
}

/** user, nice, system, idle, iowait, irq, softirq, steal; guests are part of user and nice. What a hypervisor took is busy. */
export function parseProcessors(stat: string): Pick<Ticks, 'all' | 'busy'> {
  const ticks = /^cpu +(.*)$/m.exec(stat)?.[1]?.split(' ').slice(0, 8).map(Number) ?? [];
  const all = ticks.reduce((total, count) => total + count, 0);
  return { all, busy: all - (ticks[3] ?? Number.NaN) - (ticks[4] ?? Number.NaN) };
}

/** Of this process and all that descend from it: their own time, and that of children which have ended (fields 14 to 17). */
export function readOwnTicks(): number {
  const stats = new Map(listProcesses().map((pid) => [pid, readStat(pid)]));
  const ours = [process.pid];
  for (const parent of ours) {
    for (const [pid, stat] of stats) if (Number(stat?.[1]) === parent) ours.push(pid);
  }
  const ticksOf = (pid: number): number =>
    (stats.get(pid)?.slice(11, 15) ?? []).reduce((total, count) => total + Number(count), 0);
  return ours.reduce((total, pid) => total + ticksOf(pid), 0);
}
