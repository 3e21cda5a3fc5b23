// Accounting over the ledger: who fits into a budget the store decides, and what becomes of one request its booking knows.
// Owns what bookings share, and the end: no process goes before its bookings are closed.

import type { Clock } from '../../domain/clock.ts';
import type { AuthenticatedCaller } from '../caller.ts';
import { NEVER, pause, wallClock } from '../wall-clock.ts';
import type { Accounting, Booking, NewBooking } from './accounting.ts';
import { Foresight } from './foresight.ts';
import { type Books, LedgerBooking } from './ledger-booking.ts';
import { Unsettled } from './unsettled.ts';

export interface LedgerOptions extends Omit<Books, 'clock' | 'foresight' | 'unsettled'> {
  /** Default: the system's. */
  readonly clock?: Clock;
}

export class LedgerAccounting implements Accounting {
  readonly #books: Books;
  readonly #open = new Set<LedgerBooking>();

  constructor(options: LedgerOptions) {
    const { clock = wallClock, onFault } = options;
    this.#books = { ...options, clock, foresight: new Foresight(), unsettled: new Unsettled({ clock, onFault }) };
  }

  needsCount({ key }: AuthenticatedCaller): boolean {
    return key.budget !== null || key.limits.tokensPerMinute !== null;
  }

  expectsRoom(wanted: NewBooking): boolean {
    const { foresight, clock } = this.#books;
    return foresight.expectsRoom(wanted, clock.nowMs());
  }

  book(wanted: NewBooking): Booking {
    const booking = new LedgerBooking(this.#books, wanted);
    this.#open.add(booking);
    void booking.closed.then(() => this.#open.delete(booking));
    return booking;
  }

  /**
   * Once nothing more is let in: waits for what is being closed, then tells the store what it could not be told so far.
   */
  async stop(): Promise<void> {
    const { clock, settleTimeoutMs, unsettled } = this.#books;
    if (this.#open.size > 0) {
      const closed = Promise.all([...this.#open].map((booking) => booking.closed));
      await Promise.race([closed, pause(clock, settleTimeoutMs, NEVER)]);
    }
    await unsettled.stop();
  }
}
