// The audit trail: what administrators did, and who did it.

/** Who did what, for the audit trail. Never a secret, never a caller's text. */
export interface AuditRecord {
  readonly atMs: number;
  /** Id of a key, or `command line`, or `server`. */
  readonly actor: string;
  /** `key.create`, `key.update`, `key.rotate`, `key.revoke`, `price.set`, `model.learn`, … */
  readonly action: string;
  /** Id of what it was done to. */
  readonly target: string;
  /** What changed, as JSON. */
  readonly details: Readonly<Record<string, unknown>>;
}

export interface StoredAuditRecord extends AuditRecord {
  /** Grows; the cursor of a page. */
  readonly id: number;
}

/** Somebody with access to the machine. */
export const COMMAND_LINE = 'command line';
/** The server by itself: the first key. */
export const SERVER = 'server';

/** Whether it can always make itself a new key, so that it cannot lock itself out. */
export function isOnTheMachine(actor: string): boolean {
  return actor === COMMAND_LINE || actor === SERVER;
}
