// Waits for what a store has still open, by asking it.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { MoneyStore } from './money-store.ts';

/** @param ids of reservations to wait for; default: all */
export async function untilSettled(store: MoneyStore, ids?: readonly string[]): Promise<void> {
  for (;;) {
    const open = (await store.query('SELECT id FROM reservations')).map(({ id }) => String(id));
    if (ids === undefined ? open.length === 0 : !open.some((id) => ids.includes(id))) return;
    await nextTurn();
  }
}
