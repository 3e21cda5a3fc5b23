// What a failure of ours is called on the command line: mistakes of whoever runs a command, told in one message.

import { commandFailure, type Failure } from '../cli/failure.ts';
import { ConfigError } from '../config/load.ts';
import { AppError, errorCatalogue, StoreUnavailableError } from '../domain/errors.ts';
import { HubError } from '../hub/hub-error.ts';
import { LearnError, type LearnFault } from '../learning/learn-error.ts';
import { RecipeError } from '../recipe/recipe-error.ts';
import { StartError } from '../runtime/start-error.ts';
import { StorageError } from '../storage/storage-error.ts';

/** What is wrong with the rows, and not with what should be made of them. */
const ROW_FAULTS: ReadonlySet<string> = new Set(['invalid_rows', 'too_many_rows'] satisfies LearnFault[]);

/** @returns undefined: nobody expected it, and it is a fault of ours */
export function findFailure(error: unknown): Failure | undefined {
  if (error instanceof AppError) {
    const { message, code, param = null } = error;
    return { message, type: errorCatalogue[code].type, param, code };
  }
  if (error instanceof StoreUnavailableError) {
    return {
      message: error.message,
      type: errorCatalogue.store_unavailable.type,
      param: null,
      code: 'store_unavailable',
    };
  }
  if (error instanceof ConfigError) return commandFailure('invalid_configuration', error.message);
  if (error instanceof HubError) return commandFailure('hub_failed', error.message);
  if (error instanceof RecipeError) return commandFailure('model_refused', error.message);
  if (error instanceof LearnError)
    return commandFailure(ROW_FAULTS.has(error.code) ? 'invalid_rows' : 'cannot_learn', error.message);
  if (error instanceof StartError) return commandFailure('start_failed', error.message);
  return error instanceof StorageError ? commandFailure('store_failed', error.message) : undefined;
}
