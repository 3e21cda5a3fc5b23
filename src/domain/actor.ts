// Who does what is written down in the audit trail: the id of a key, or one of these.

/** Somebody with access to the machine. */
export const COMMAND_LINE = 'command line';
/** The server by itself: the first key. */
export const SERVER = 'server';

/** Whether it can always make itself a new key, so that it cannot lock itself out. */
export function isOnTheMachine(actor: string): boolean {
  return actor === COMMAND_LINE || actor === SERVER;
}
