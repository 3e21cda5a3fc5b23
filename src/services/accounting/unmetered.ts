// Accounting that lets everything in and writes nothing: for a command that runs a model in its own process.

import { NO_STANDING } from '../../domain/ledger.ts';
import { type BilledTokens, costPicoUsd } from '../../domain/money.ts';
import type {
  Accounting,
  EarlyOpening,
  FinishedWork,
  MeteredRequest,
  Opening,
  OpenRequest,
  Receipt,
} from './accounting.ts';

export class Unmetered implements Accounting {
  async open(request: MeteredRequest): Promise<Opening> {
    return { type: 'opened', request: requestFor(request) };
  }

  openEarly(request: MeteredRequest): EarlyOpening {
    return { request: requestFor(request), letIn: Promise.resolve() };
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

function requestFor({ model }: MeteredRequest): OpenRequest {
  const receiptOf = (usage: BilledTokens): Receipt => ({
    costPicoUsd: costPicoUsd(usage, model.price),
    standing: NO_STANDING,
  });
  const complete = async ({ usage }: FinishedWork): Promise<Receipt> => receiptOf(usage);
  return { standing: NO_STANDING, complete, fail: async () => undefined };
}
