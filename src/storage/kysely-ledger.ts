// The ledger in any SQL store that kysely speaks to: operations in groups, one transaction for each group.

import type { Kysely } from 'kysely';
import { findFullLimit, type KeyStanding, newAccount, periodStartMs, standingOf } from '../domain/account.ts';
import type { RequestOutcome } from '../domain/ledger.ts';
import { LedgerBatch } from './ledger-batch.ts';
import type { GroupableLedger, LedgerOperation, OperationOutcome } from './ledger-operation.ts';
import { toAccount } from './ledger-row.ts';
import { readDeadState, readState, readsOf, writeBatch } from './ledger-statements.ts';
import type { Database } from './schema.ts';

const PURGED_AT_ONCE = 1000;

export class KyselyLedger implements GroupableLedger {
  readonly #database: Kysely<Database>;

  constructor(database: Kysely<Database>) {
    this.#database = database;
  }

  async apply(operations: readonly LedgerOperation[]): Promise<readonly OperationOutcome[]> {
    if (operations.length === 0) return [];
    return await this.#database.transaction().execute(async (tables) => {
      const batch = new LedgerBatch(await readState(tables, operations));
      const outcomes: OperationOutcome[] = [];
      for (const operation of operations) outcomes.push(await batch.decide(operation));
      // A reservation that a crash of the database undid is missed when its request ends, which is then refused. That a
      // reply was given again must not be forgotten.
      const mayBeLost = operations.every(({ type }) => type === 'reserve') && batch.claims.given.length === 0;
      await writeBatch(tables, batch, mayBeLost);
      return outcomes;
    });
  }

  async standing(key: Parameters<GroupableLedger['standing']>[0], nowMs: number): Promise<KeyStanding> {
    const row = await this.#database.selectFrom('accounts').selectAll().where('key_id', '=', key.id).executeTakeFirst();
    let account = row === undefined ? newAccount(key.id) : toAccount(row);
    const startMs = periodStartMs(key.budget?.reset ?? 'none', nowMs);
    if (account.periodStartMs !== startMs)
      account = { ...account, periodStartMs: startMs, ...(await readsOf(this.#database).sumsSince(key.id, startMs)) };
    const { spentPicoUsd, reservedPicoUsd } = account;
    const limit = findFullLimit(account, key.limits, nowMs) ?? null;
    return { standing: standingOf(account, key, nowMs), spentPicoUsd, reservedPicoUsd, limit };
  }

  async beat(instanceId: string, nowMs: number): Promise<void> {
    await this.#database
      .insertInto('instances')
      .values({ id: instanceId, beat_at_ms: nowMs })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ beat_at_ms: nowMs }))
      .execute();
  }

  async leave(instanceId: string): Promise<void> {
    await this.#database.deleteFrom('instances').where('id', '=', instanceId).execute();
  }

  async recover(deadBeforeMs: number, nowMs: number): Promise<number> {
    return await this.#database.transaction().execute(async (tables) => {
      const state = await readDeadState(tables, deadBeforeMs);
      const batch = new LedgerBatch(state);
      for (const { accepted } of state.reservations) {
        const outcome = crashedOutcome(Math.max(0, nowMs - accepted.acceptedAtMs));
        await batch.decide({ type: 'settle', settlement: { id: accepted.id, outcome } });
      }
      await writeBatch(tables, batch, false);
      return state.reservations.length;
    });
  }

  async purgeReplies(nowMs: number): Promise<number> {
    // In pieces: replies can be large, and requests wait for a transaction that is long.
    for (let purged = 0; ; ) {
      const { numDeletedRows } = await this.#database
        .deleteFrom('idempotency')
        .where(({ eb, refTuple, selectFrom }) =>
          eb(
            refTuple('key_hash', 'key_id'),
            'in',
            selectFrom('idempotency')
              .select(['key_hash', 'key_id'])
              .where('expires_at_ms', '<=', nowMs)
              .limit(PURGED_AT_ONCE)
              .$asTuple('key_hash', 'key_id'),
          ),
        )
        .executeTakeFirst();
      purged += Number(numDeletedRows);
      if (numDeletedRows < BigInt(PURGED_AT_ONCE)) return purged;
    }
  }
}

function crashedOutcome(durationMs: number): RequestOutcome {
  return {
    end: 'crashed',
    status: 500,
    errorCode: 'internal_error',
    usage: { inputTokens: 0, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 },
    isEstimated: false,
    costPicoUsd: 0n,
    durationMs,
    waitMs: null,
    upstream: null,
    upstreamFailures: null,
  };
}
