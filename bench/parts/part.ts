// What a part of the comparison is: what it measures, what its section of the page says of that, and what is drawn.

import type { Loads } from '../load/loads.ts';
import type { Task } from '../load/workload.ts';
import type { Chart } from '../pages/charts.ts';
import type { Fleet } from '../servers/fleet.ts';
import type { Compared } from './compared.ts';

export interface Part<Figures> {
  readonly title: string;
  /** Servers of this task run beside each other and are warm; absent: the part starts servers of ours by itself. */
  readonly task?: Task;
  measure(bench: Bench): Promise<Figures>;
  /** @returns paragraphs in Markdown */
  write(figures: Figures, prices: Prices): string[];
  /** Absent: no plot. */
  draw?(figures: Figures): Chart[];
  /** Default: that of the part. */
  readonly plotTitle?: string;
}

/** What shipped models ask for a million tokens of input, in dollars. */
export type Prices = Readonly<Record<string, number>>;

/** What a part measures with. */
export interface Bench {
  /** Servers that run beside each other; nobody where the part starts its own. */
  readonly fleet: Fleet;
  /** Those servers, as they are when a part has ended. */
  compared(): Compared;
  readonly loads: Loads;
  /** Of the closed loops. */
  readonly concurrencies: readonly number[];
  readonly usdPerHour: number;
  /** Where the Python environments are. */
  readonly environments: string;
  /** Enough to quote, or a short form for development. */
  effort<T>(full: T, quick: T): T;
  /** The same for rounds, unless so many are asked for. */
  rounds(full: number, quick: number): number;
  say(text: string): void;
}

/** Figures are what is measured: they have no type but that. */
export function definePart<Figures>(part: Part<Figures>): Part<Figures> {
  return part;
}
