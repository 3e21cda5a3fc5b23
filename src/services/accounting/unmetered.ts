// Accounting that lets everything in and writes nothing: for a command that runs a model in its own process.

import { NO_STANDING } from '../../domain/ledger.ts';
import { costPicoUsd } from '../../domain/money.ts';
import type { Accounting, Booking, NewBooking } from './accounting.ts';

export class Unmetered implements Accounting {
  book({ model }: NewBooking): Booking {
    return {
      letIn: Promise.resolve({ type: 'let-in', standing: NO_STANDING }),
      complete: async ({ usage }) => ({ costPicoUsd: costPicoUsd(usage, model.price), standing: NO_STANDING }),
      fail: async () => undefined,
    };
  }

  needsCount(): boolean {
    return false;
  }

  /** Nothing is asked that work could begin beside. */
  expectsRoom(): boolean {
    return false;
  }

  async stop(): Promise<void> {
    // Nothing is ever left to be written.
  }
}
