// A store that fails while clients call, and is repaired while they go on: what they were answered, and what the store
// says when all is over.

import type { Environment, ServerProcess } from '../process/server-process.ts';
import { type BooksReport, compareBooks } from './books.ts';
import { ClientCrowd } from './client-crowd.ts';
import type { Answer } from './exchange.ts';
import { Fleet } from './fleet.ts';
import { issueKey } from './issue-key.ts';
import type { MoneyStore } from './money-store.ts';
import { untilSettled } from './until-settled.ts';

export interface OutageOptions {
  readonly store: MoneyStore;
  readonly settings?: Environment;
  /** What starts the server; default: as its users start it. */
  readonly command?: readonly string[];
  readonly fail: (server: ServerProcess) => Promise<void>;
  readonly repair: (server: ServerProcess) => Promise<void>;
  /** What tells that the store is gone. */
  readonly isAffected: (answer: Answer) => boolean;
}

export interface Outage {
  /** From the failure to the repair. */
  readonly during: readonly Answer[];
  readonly after: readonly Answer[];
  readonly books: BooksReport;
  /** Of the server, at the end. */
  readonly metrics: string;
  readonly recoveryMs: number;
}

const CLIENTS = 3;
const ANSWERS_PER_PHASE = 30;
/** Each may take as long as the store is waited for. */
const REFUSALS = 15;

/** The server is never restarted. */
export async function failAndRepair({
  store,
  settings = {},
  command,
  fail,
  repair,
  isAffected,
}: OutageOptions): Promise<Outage> {
  const fleet = await Fleet.over(store, { settings, command });
  // A store left as it failed would fail every test after this one.
  let repairIfBroken = async (): Promise<void> => undefined;
  try {
    const server = await fleet.launch();
    const address = await server.ready();
    const keys = [await issueKey(address, { budgetPicoUsd: 10n ** 14n })];
    const crowd = new ClientCrowd({ leavingShare: 0, clients: CLIENTS, keys, seed: 3 });
    const work = crowd.run(address);
    await crowd.until((answers) => answers.filter(isServed).length >= ANSWERS_PER_PHASE);
    const failedAt = crowd.answers.length;
    repairIfBroken = () => repair(server);
    await fail(server);
    await crowd.until((answers) => answers.filter(isAffected).length >= REFUSALS);
    const repairedAt = crowd.answers.length;
    const repairedMs = performance.now();
    repairIfBroken = async () => undefined;
    await repair(server);
    await crowd.until((answers) => answers.some(isServed));
    const recoveryMs = performance.now() - repairedMs;
    await crowd.until((answers) => answers.filter(isServed).length >= ANSWERS_PER_PHASE);
    crowd.stop();
    await work;
    // What was in doubt when the store failed is settled once it is back.
    await untilSettled(store);
    const metrics = await (await fetch(`${address}/metrics`)).text();
    const books = await compareBooks(store, crowd);
    const during = crowd.answers.slice(failedAt, repairedAt);
    return { during, after: crowd.answers.slice(repairedAt), books, metrics, recoveryMs };
  } finally {
    await repairIfBroken();
    await fleet.dispose();
  }
}

/** Let in by the store: only it knows what is left of the budget. */
export function isServed({ status, headers }: Answer): boolean {
  return status === 200 && headers.has('x-umpire-budget-remaining-usd');
}
