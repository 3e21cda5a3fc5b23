// A reply that is no success, as the failure of a command.

import { errorMessage, readWireError } from '../client/wire-error.ts';
import { CommandError, commandFailure } from './failure.ts';

/** @param remedy a sentence for people */
export function refusedReply(body: string, remedy = ''): CommandError {
  const { message, type, param, code } = readWireError(body);
  const failure =
    code === '' ? commandFailure('no_answer', message) : { message, type, param: param === '' ? null : param, code };
  return new CommandError(failure, [errorMessage(body), remedy].join(' ').trimEnd());
}
