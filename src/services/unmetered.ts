// Accounting that lets everything in and writes nothing: for a command that runs a model in its own process.

import { NO_STANDING } from '../domain/ledger.ts';
import { type BilledTokens, costPicoUsd } from '../domain/money.ts';
import type { Accounting, FinishedWork, MeteredRequest, Opening, Receipt } from './accounting.ts';

export class Unmetered implements Accounting {
  async open({ model }: MeteredRequest): Promise<Opening> {
    const receiptOf = (usage: BilledTokens): Receipt => ({
      costPicoUsd: costPicoUsd(usage, model.price),
      standing: NO_STANDING,
    });
    const complete = async ({ usage }: FinishedWork): Promise<Receipt> => receiptOf(usage);
    return { type: 'opened', request: { standing: NO_STANDING, complete, fail: async () => undefined } };
  }

  needsCount(): boolean {
    return false;
  }

  /** Nothing is asked that work could begin beside. */
  expectsToAdmit(): boolean {
    return false;
  }

  async stop(): Promise<void> {
    // Nothing is ever left to be written.
  }
}
