// Group commit: calls that come while a transaction is under way wait for it and are then committed together, and those
// that nobody waits for yet wait for the next call. Owns the waiting; what an operation does, the ledger behind it knows.

import type { KeyStanding } from '../domain/account.ts';
import { StoreUnavailableError } from '../domain/errors.ts';
import type { GroupableLedger, LedgerOperation, OperationOutcome } from './ledger-operation.ts';
import type { LedgerStore, Reservation, ReserveOutcome, Settlement, SettleOutcome } from './stores.ts';

/** Bounds the time of a transaction, and with it how long the next one waits. */
const MAX_GROUP = 256;
/** Only those of the transaction that was under way when the store was lost can have been committed: far fewer. */
const MAX_DOUBTFUL = 4096;
/** Where no other operation comes that what is owed could go before. */
const OWED_DELAY_MS = 1000;

type StandingKey = Parameters<LedgerStore['standing']>[0];

interface WaitingOperation {
  readonly operation: LedgerOperation;
  readonly resolve: (outcome: OperationOutcome) => void;
  readonly reject: (error: unknown) => void;
}

export class GroupedLedger implements LedgerStore {
  readonly #ledger: GroupableLedger;
  readonly #waiting: WaitingOperation[] = [];
  /**
   * What undoes operations of which nobody knows whether they were committed, by their request: goes before the next
   * operations, in one transaction with them. So a client that comes again finds nothing of what it was refused.
   */
  readonly #owed = new Map<string, LedgerOperation>();
  #owedTimer: NodeJS.Timeout | undefined;
  #isRunning = false;
  #latestStart: NodeJS.Timeout | undefined;

  constructor(ledger: GroupableLedger) {
    this.#ledger = ledger;
  }

  async reserve(reservation: Reservation, withinMs = 0): Promise<ReserveOutcome> {
    return (await this.#enqueue({ type: 'reserve', reservation }, withinMs)) as ReserveOutcome;
  }

  async settle(settlement: Settlement): Promise<SettleOutcome> {
    return (await this.#enqueue({ type: 'settle', settlement })) as SettleOutcome;
  }

  async release(id: string): Promise<void> {
    await this.#enqueue({ type: 'release', id });
  }

  async standing(key: StandingKey, nowMs: number): Promise<KeyStanding> {
    return await this.#ledger.standing(key, nowMs);
  }

  async beat(instanceId: string, nowMs: number): Promise<void> {
    await this.#ledger.beat(instanceId, nowMs);
  }

  async leave(instanceId: string): Promise<void> {
    await this.#ledger.leave(instanceId);
  }

  async recover(deadBeforeMs: number, nowMs: number): Promise<number> {
    return await this.#ledger.recover(deadBeforeMs, nowMs);
  }

  async purgeReplies(nowMs: number): Promise<number> {
    return await this.#ledger.purgeReplies(nowMs);
  }

  #enqueue(operation: LedgerOperation, withinMs = 0): Promise<OperationOutcome> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ operation, resolve, reject });
      if (this.#isRunning) return;
      if (withinMs > 0) this.#latestStart ??= setTimeout(() => void this.#run(), withinMs);
      else void this.#run();
    });
  }

  async #run(): Promise<void> {
    clearTimeout(this.#latestStart);
    this.#latestStart = undefined;
    this.#isRunning = true;
    do await this.#applyGroup(this.#waiting.splice(0, MAX_GROUP));
    while (this.#waiting.length > 0);
    this.#isRunning = false;
    if (this.#owed.size > 0) this.#payLater();
  }

  async #applyGroup(group: readonly WaitingOperation[]): Promise<void> {
    try {
      await this.#apply(group);
    } catch (error) {
      // One that cannot be applied must not take the others with it.
      if (group.length > 1 && !(error instanceof StoreUnavailableError)) {
        for (const waiting of group) await this.#applyGroup([waiting]);
        return;
      }
      for (const { operation, reject } of group) {
        if (error instanceof StoreUnavailableError) this.#doubt(operation);
        reject(error);
      }
    }
  }

  async #apply(group: readonly WaitingOperation[]): Promise<void> {
    const owed = [...this.#owed];
    const outcomes = await this.#ledger.apply([
      ...owed.map(([, operation]) => operation),
      ...group.map(({ operation }) => operation),
    ]);
    for (const [id] of owed) this.#owed.delete(id);
    for (const [index, { resolve }] of group.entries()) resolve(outcomes[owed.length + index]);
  }

  #doubt(operation: LedgerOperation): void {
    if (operation.type === 'reserve' && this.#owed.size < MAX_DOUBTFUL) {
      const { id } = operation.reservation;
      this.#owed.set(id, { type: 'release', id });
    }
    // Its reply was refused: no retry may find it. Bounded by the requests that were under way.
    if (operation.type === 'settle' && operation.settlement.overrules !== undefined) {
      this.#owed.set(operation.settlement.id, operation);
    }
  }

  #payLater(): void {
    this.#owedTimer ??= setTimeout(() => {
      this.#owedTimer = undefined;
      if (!this.#isRunning && this.#owed.size > 0) void this.#run();
    }, OWED_DELAY_MS).unref();
  }
}
