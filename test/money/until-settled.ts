// Waits for what a store has still open, by asking it.

import { until } from '../waiting/until.ts';
import type { MoneyStore } from './money-store.ts';

/** @param ids of reservations to wait for; default: all */
export async function untilSettled(store: MoneyStore, ids?: readonly string[]): Promise<void> {
  const isSettled = async (): Promise<boolean> => {
    const open = (await store.query('SELECT id FROM reservations')).map(({ id }) => String(id));
    return ids === undefined ? open.length === 0 : !open.some((id) => ids.includes(id));
  };
  // What a lost process had open is closed by others, when it has given no sign of life for long enough.
  await until('nothing is open any more', isSettled, { withinMs: 300_000 });
}
