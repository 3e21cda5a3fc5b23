// The ticket of a job that no model can take.

import type { Ticket } from './engine.ts';

/** @param reason what each of its operations fails with */
export function refusedTicket(reason: unknown): Ticket<never> {
  const refuse = (): never => {
    throw reason;
  };
  return { countTokens: async () => refuse(), enter: refuse, run: async () => refuse() };
}
