// What an error of PostgreSQL or of the way to it means for the store. Owns the classification; who waits, tries again or
// gives up is decided elsewhere.

import { StoreUnavailableError } from '../../domain/errors.ts';

/** Two transactions got into each other's way and this one was undone: it may simply run again. */
export class ConflictError extends StoreUnavailableError {}

/**
 * SQLSTATEs, whole or by class, of a server that cannot do its work for now: lost or refused connections (08, 28, 3D000),
 * no resources such as disk or memory (53), somebody's intervention such as a shutdown or a cancelled statement (57),
 * errors of its system (58), a lock that is not to be had (55P03), a standby that does not write (25006), a transaction
 * that was ended because we were silent (25P03, 25P04).
 */
const UNAVAILABLE = ['08', '28', '3D000', '53', '57', '58', '55P03', '25006', '25P03', '25P04'];
const CONFLICT = ['40001', '40P01'];
/** After these the connection is as good as before. */
const CONNECTION_STAYS = ['57014', '55P03', '53100', '53200'];

/** @returns a StoreUnavailableError where waiting may help; otherwise the error as it is: then the mistake is ours */
export function translatePostgresError(error: unknown): unknown {
  if (error instanceof StoreUnavailableError) return error;
  const state = sqlStateOf(error);
  if (state === undefined) return unavailable(error);
  if (CONFLICT.includes(state))
    return new ConflictError('Transactions got into the way of each other.', { cause: error });
  return UNAVAILABLE.some((start) => state.startsWith(start)) ? unavailable(error) : error;
}

/** Whether the connection must not be used again. */
export function breaksConnection(error: unknown): boolean {
  const state = sqlStateOf(error);
  if (state === undefined) return true;
  return UNAVAILABLE.some((start) => state.startsWith(start)) && !CONNECTION_STAYS.includes(state);
}

/** Of an answer of the server. undefined: no answer came; the driver gives such errors no code or a system's. */
function sqlStateOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || !('severity' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

function unavailable(error: unknown): StoreUnavailableError {
  return new StoreUnavailableError(`PostgreSQL does not answer: ${describeFailure(error)}.`, { cause: error });
}

/** Of several addresses that were tried, the error itself says nothing. */
export function describeFailure(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describeFailure).join('; ');
  return error instanceof Error ? error.message.replace(/\.$/, '') : String(error);
}
