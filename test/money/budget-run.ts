// Many clients against one budget that pays for an exact number of decisions, on any number of servers over one store.

import { type Answer, exchange, type Order } from './exchange.ts';
import { ADMIN_KEY, Fleet } from './fleet.ts';
import { type IssuedKey, issueKey } from './issue-key.ts';
import type { MoneyStore } from './money-store.ts';

export interface BudgetRunOptions {
  readonly store: MoneyStore;
  readonly servers: number;
  readonly clients: number;
  /** How many the budget pays for. */
  readonly decisions: number;
}

export interface BudgetRun {
  readonly budgetPicoUsd: bigint;
  readonly served: readonly Answer[];
  /** One for each client: then it stops. */
  readonly refused: readonly Answer[];
  readonly others: readonly Answer[];
  readonly account: { readonly spent: bigint; readonly reserved: bigint; readonly inFlight: bigint };
  readonly ledger: { readonly rows: bigint; readonly sum: bigint };
  readonly elapsedMs: number;
}

export async function spendBudget(options: BudgetRunOptions): Promise<BudgetRun> {
  const { store } = options;
  const fleet = await Fleet.over(store);
  try {
    const addresses = await fleet.launchMany(options.servers);
    const pricePicoUsd = await findPrice(addresses[0] ?? '');
    const budgetPicoUsd = pricePicoUsd * BigInt(options.decisions);
    const key = await issueKey(addresses[0] ?? '', { budgetPicoUsd });
    const startedMs = performance.now();
    const spend = (client: number): Promise<Answer[]> =>
      spendUntilRefused(addresses[client % addresses.length] ?? '', { key, client });
    const answers = (await Promise.all(Array.from({ length: options.clients }, (_, client) => spend(client)))).flat();
    const elapsedMs = performance.now() - startedMs;
    return { budgetPicoUsd, ...sort(answers), ...(await readStore(store, key)), elapsedMs };
  } finally {
    await fleet.dispose();
  }
}

function orderOf(requestId: string, { id, secret }: IssuedKey): Order {
  return { requestId, kind: 'decision', words: 3, keyId: id, secret };
}

/** Pico-dollars of one decision, asked by another key. */
async function findPrice(address: string): Promise<bigint> {
  const answer = await exchange(address, orderOf('price', { id: 'key_configured', secret: ADMIN_KEY }));
  if (answer?.costPicoUsd === undefined) throw new Error(`No price: ${answer?.status} ${answer?.text}`);
  return answer.costPicoUsd;
}

async function spendUntilRefused(address: string, { key, client }: { key: IssuedKey; client: number }) {
  const answers: Answer[] = [];
  for (let sent = 0; answers.at(-1)?.status !== 402; sent++) {
    const answer = await exchange(address, orderOf(`spend-${client}-${sent}`, key));
    if (answer === undefined) throw new Error('A connection broke.');
    answers.push(answer);
  }
  return answers;
}

function sort(answers: readonly Answer[]): Pick<BudgetRun, 'served' | 'refused' | 'others'> {
  return {
    served: answers.filter(({ status }) => status === 200),
    refused: answers.filter(({ status }) => status === 402),
    others: answers.filter(({ status }) => status !== 200 && status !== 402),
  };
}

async function readStore(store: MoneyStore, { id }: IssuedKey): Promise<Pick<BudgetRun, 'account' | 'ledger'>> {
  const [account] = await store.query(
    `SELECT spent_pico_usd, reserved_pico_usd, in_flight FROM accounts WHERE key_id = '${id}'`,
  );
  const [ledger] = await store.query(
    `SELECT count(*) AS rows_, sum(cost_pico_usd) AS sum_ FROM ledger WHERE key_id = '${id}'`,
  );
  const toBigInt = (value: unknown): bigint => BigInt(String(value));
  return {
    account: {
      spent: toBigInt(account?.['spent_pico_usd']),
      reserved: toBigInt(account?.['reserved_pico_usd']),
      inFlight: toBigInt(account?.['in_flight']),
    },
    ledger: { rows: toBigInt(ledger?.['rows_']), sum: toBigInt(ledger?.['sum_']) },
  };
}
