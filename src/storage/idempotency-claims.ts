// The claims on idempotency keys within one transaction: what was found, what is decided, and what is left to write.

import type { Insertable, Selectable } from 'kysely';
import type { StoredReply } from '../domain/ledger.ts';
import type { IdempotencyTable } from './schema.ts';
import type { IdempotencyClaim, ReserveOutcome } from './stores.ts';

export type ClaimRow = Insertable<IdempotencyTable> & Pick<IdempotencyTable, 'reply'>;

export interface ClaimAddress {
  readonly keyHash: string;
  readonly keyId: string;
}

/** The end of a request that held a claim; `reply` undefined: the claim is given up. */
export interface ClaimEnd extends ClaimAddress {
  readonly requestRowId: string;
  readonly reply: StoredReply | null | undefined;
}

/** Values of `is_done`. */
const RUNS = 0;
const ENDED = 1;
const GIVEN = 2;

export class IdempotencyClaims {
  readonly #rows = new Map<string, ClaimRow>();
  readonly #made = new Set<string>();
  readonly #given = new Set<string>();
  readonly #ends: ClaimEnd[] = [];

  constructor(found: readonly Selectable<IdempotencyTable>[]) {
    for (const row of found) this.#rows.set(nameOf({ keyHash: row.key_hash, keyId: row.key_id }), toClaimRow(row));
  }

  /** @returns what a retry is told; undefined: the claim is free */
  find(keyId: string, claim: IdempotencyClaim, nowMs: number): ReserveOutcome | undefined {
    const name = nameOf({ keyHash: claim.keyHash, keyId });
    const row = this.#rows.get(name);
    if (row === undefined || Number(row.expires_at_ms) <= nowMs) return undefined;
    if (row.fingerprint !== claim.fingerprint) return { type: 'mismatch' };
    if (row.is_done === RUNS) return { type: 'in-progress' };
    // From now on the row is what a client was told, even if whoever wrote it does not know that it is written.
    if (row.is_done === ENDED && row.reply !== null) this.#markGiven(name, row);
    return { type: 'replay', reply: readReply(row.reply) };
  }

  /** Whether a retry was given the reply of this request. */
  isGiven({ keyHash, keyId }: ClaimAddress, requestRowId: string): boolean {
    const row = this.#rows.get(nameOf({ keyHash, keyId }));
    return row?.request_row_id === requestRowId && row.is_done === GIVEN;
  }

  #markGiven(name: string, row: ClaimRow): void {
    this.#rows.set(name, { ...row, is_done: GIVEN });
    this.#given.add(name);
  }

  make(keyId: string, claim: IdempotencyClaim, requestRowId: string): void {
    const name = nameOf({ keyHash: claim.keyHash, keyId });
    this.#made.add(name);
    this.#rows.set(name, {
      key_hash: claim.keyHash,
      key_id: keyId,
      fingerprint: claim.fingerprint,
      request_row_id: requestRowId,
      is_done: RUNS,
      expires_at_ms: claim.expiresAtMs,
      reply: null,
    });
  }

  end(end: ClaimEnd): void {
    this.#ends.push(end);
    const name = nameOf(end);
    const row = this.#rows.get(name);
    // A claim that ran out may be another request's by now.
    if (row?.request_row_id !== end.requestRowId) return;
    if (end.reply === undefined) this.#rows.delete(name);
    else this.#rows.set(name, { ...row, is_done: ENDED, reply: writeReply(end.reply) });
  }

  /** To be written after `ends`. */
  get made(): readonly ClaimRow[] {
    return [...this.#made].flatMap((name) => this.#rows.get(name) ?? []);
  }

  get ends(): readonly ClaimEnd[] {
    return this.#ends;
  }

  /** Claims whose reply a retry is given for the first time. To be written after `ends`. */
  get given(): readonly ClaimRow[] {
    return [...this.#given].flatMap((name) => this.#rows.get(name) ?? []).filter(({ is_done }) => is_done === GIVEN);
  }
}

// JSON also keeps what a database does not take in a text: the character 0, halves of characters.
export function writeReply(reply: StoredReply | null): string | null {
  return reply === null ? null : JSON.stringify(reply);
}

function readReply(reply: string | null): StoredReply | null {
  return reply === null ? null : (JSON.parse(reply) as StoredReply);
}

function toClaimRow(row: Selectable<IdempotencyTable>): ClaimRow {
  return { ...row, expires_at_ms: Number(row.expires_at_ms) };
}

function nameOf({ keyHash, keyId }: ClaimAddress): string {
  return `${keyHash} ${keyId}`;
}
