// Replicas under load, of which one is lost: killed, or silent for so long that the others take it for dead, and then back.
// The others go on, close what it left open, and nobody starts anything again before the books are compared.

import type { ServerProcess } from '../process/server-process.ts';
import { until } from '../waiting/until.ts';
import { type BooksReport, compareBooks } from './books.ts';
import { ClientCrowd } from './client-crowd.ts';
import type { Answer } from './exchange.ts';
import { Fleet } from './fleet.ts';
import { issueKey } from './issue-key.ts';
import type { MoneyStore } from './money-store.ts';
import { untilSettled } from './until-settled.ts';

export type Loss = 'killed' | 'silent';

export interface LossRound {
  readonly loss: Loss;
  /** From the loss on. */
  readonly answers: readonly Answer[];
  /** What the lost one had open, and others closed as crashed. */
  readonly orphans: number;
  readonly books: BooksReport;
}

export interface LossOptions {
  readonly store: MoneyStore;
  readonly losses: readonly Loss[];
  readonly clientsPerReplica: number;
  readonly seed: number;
}

const REPLICAS = 3;
/** How often a replica is held, so that it has something open just then. */
const MOST_HOLDS = 50;
const LEAVING_SHARE = 0.1;
const ANSWERS_BEFORE = 60;
const ANSWERS_AFTER = 60;
const BUDGET_PICO_USD = 10n ** 14n;

/** Yields after each loss, once everything is settled. */
export async function* loseReplicas({
  store,
  losses,
  clientsPerReplica,
  seed,
}: LossOptions): AsyncGenerator<LossRound> {
  const fleet = await Fleet.over(store);
  try {
    const servers = await Promise.all(Array.from({ length: REPLICAS }, () => fleet.launch()));
    const [first] = servers;
    if (first === undefined) throw new Error('There is no replica.');
    const address = await first.ready();
    const keys = [await issueKey(address), await issueKey(address, { budgetPicoUsd: BUDGET_PICO_USD })];
    const crowd = new ClientCrowd({ leavingShare: LEAVING_SHARE, clients: clientsPerReplica, keys, seed });
    for (const [round, loss] of losses.entries()) {
      const place = round % REPLICAS;
      const work = servers.map(async (server) => await crowd.run(await server.ready()));
      await crowd.until((answers) => answers.length >= ANSWERS_BEFORE);
      const lostAt = crowd.answers.length;
      const victim = servers[place] ?? first;
      const orphans = await (loss === 'killed' ? kill(victim, store) : silence(victim, store));
      await crowd.until((answers) => answers.length >= ANSWERS_AFTER);
      crowd.stop();
      await Promise.all(work);
      await untilSettled(store);
      yield { loss, answers: crowd.answers.slice(lostAt), orphans, books: await compareBooks(store, crowd) };
      if (loss === 'killed') servers[place] = await fleet.launch();
    }
  } finally {
    await fleet.dispose();
  }
}

/** @returns rows that were written for it after its death */
async function kill(victim: ServerProcess, store: MoneyStore): Promise<number> {
  const orphans = await stopInWork(victim, store);
  await victim.stop('SIGKILL');
  return orphans;
}

/** Stopped in the middle of work until others have closed it, then let go on as if nothing had been. */
async function silence(victim: ServerProcess, store: MoneyStore): Promise<number> {
  const orphans = await stopInWork(victim, store);
  victim.kill('SIGCONT');
  return orphans;
}

/**
 * Holds the process until the others take it for dead. If it had nothing open just then, it goes on and is held again.
 * @returns rows that were written for it
 */
async function stopInWork(victim: ServerProcess, store: MoneyStore): Promise<number> {
  for (let hold = 1; hold <= MOST_HOLDS; hold++) {
    await untilAlive(store, 'all are alive', (processes) => processes === REPLICAS);
    const before = await countCrashed(store);
    victim.kill('SIGSTOP');
    await untilAlive(store, 'one is taken for dead', (processes) => processes < REPLICAS);
    const orphans = (await countCrashed(store)) - before;
    if (orphans > 0) return orphans;
    victim.kill('SIGCONT');
  }
  throw new Error(`The replica was held ${MOST_HOLDS} times and never had anything open.`);
}

/** The database waits a little each time: the servers need the processors. */
async function untilAlive(store: MoneyStore, what: string, isSo: (processes: number) => boolean): Promise<void> {
  const isSoThere = async (): Promise<boolean> => {
    const [row] = await store.query('SELECT count(*) AS processes, pg_sleep(0.02) FROM instances');
    return isSo(Number(row?.['processes']));
  };
  await until(what, isSoThere, { withinMs: 120_000 });
}

async function countCrashed(store: MoneyStore): Promise<number> {
  const [row] = await store.query(`SELECT count(*) AS rows_ FROM ledger WHERE end_type = 'crashed'`);
  return Number(row?.['rows_']);
}

export function describeLoss({ loss, answers, orphans, books }: LossRound): string {
  const served = answers.filter(({ status }) => status === 200).length;
  return `one of ${REPLICAS} ${loss}: ${orphans} of its requests closed by others, ${answers.length} answers since (${served} served); ${books.rows} rows, ${books.faults.length} faults`;
}
