// Door of loading, beside model-loader.ts: the ticket of a job whose model is not loaded yet. It waits for the model, then
// is whatever ticket the job would have had.

import type { Clock } from '../../domain/clock.ts';
import type { Caller, JobResult, Ticket } from '../engine.ts';
import type { ModelLoader } from './model-loader.ts';

export interface ColdTicketOptions {
  readonly modelId: string;
  readonly caller: Caller;
  readonly loader: ModelLoader;
  readonly clock: Clock;
  /** Once the model is loaded. */
  readonly open: (caller: Caller) => Ticket<JobResult>;
}

export class ColdTicket implements Ticket<JobResult> {
  readonly #options: ColdTicketOptions;
  readonly #sinceMs: number;
  #opening: Promise<Ticket<JobResult>> | undefined;
  #ticket: Ticket<JobResult> | undefined;
  #result: Promise<JobResult> | undefined;

  constructor(options: ColdTicketOptions) {
    this.#options = options;
    this.#sinceMs = options.clock.nowMs();
  }

  async countTokens(): Promise<number> {
    return await (await this.#open()).countTokens();
  }

  enter(): void {
    if (this.#result !== undefined) return;
    this.#options.caller.signal.throwIfAborted();
    // Counted before, it has its model: it is let in or refused at once, as any other.
    this.#ticket?.enter();
    this.#result = this.#open().then((ticket) => ticket.run());
    // It may fail before anybody waits for it.
    this.#result.catch(() => undefined);
  }

  async run(): Promise<JobResult> {
    this.enter();
    return await (this.#result as Promise<JobResult>);
  }

  /** @throws what the loader says at once */
  #open(): Promise<Ticket<JobResult>> {
    const { loader, modelId, caller } = this.#options;
    this.#opening ??= loader.wait(modelId, caller).then(() => {
      this.#ticket = this.#options.open(this.#lateCaller());
      return this.#ticket;
    });
    return this.#opening;
  }

  /** What the wait took is gone of the caller's own time. */
  #lateCaller(): Caller {
    const { caller, clock } = this.#options;
    if (caller.deadlineMs === undefined) return caller;
    return { ...caller, deadlineMs: Math.max(0, caller.deadlineMs - (clock.nowMs() - this.#sinceMs)) };
  }
}
