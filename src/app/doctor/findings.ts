// One line of `umpire doctor` for each kind of verdict.

import type { Finding } from '../../cli/program.ts';

export function ok(subject: string, text: string): Finding {
  return { state: 'ok', subject, text };
}

/** Worth knowing, and not wrong. */
export function note(subject: string, text: string, remedy?: string): Finding {
  return { state: 'note', subject, text, ...(remedy === undefined ? {} : { remedy }) };
}

export function warning(subject: string, text: string, remedy: string): Finding {
  return { state: 'warn', subject, text, remedy };
}

/** A server would not work. */
export function fault(subject: string, text: string, remedy?: string): Finding {
  return { state: 'fail', subject, text, ...(remedy === undefined ? {} : { remedy }) };
}
