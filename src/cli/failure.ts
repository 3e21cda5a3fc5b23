// What went wrong with a command, in the shape of the API's errors.

/** `error` of the API's replies. */
export interface Failure {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  /** Of the API's catalogue, or one of `COMMAND_CODES`. */
  readonly code: string;
}

/** Codes that no reply of the API has: of failures before one, or beside one. */
export const COMMAND_CODES = {
  invalid_usage: { type: 'invalid_request_error', when: 'A mistake in the command line.' },
  invalid_configuration: { type: 'invalid_request_error', when: 'A setting has a fault.' },
  invalid_rows: { type: 'invalid_request_error', when: 'A file of rows has faults.' },
  output_taken: { type: 'invalid_request_error', when: 'The output of a batch is in use, or is of another batch.' },
  start_failed: { type: 'server_error', when: 'A model, a port or a file that the command needs cannot be used.' },
  hub_failed: {
    type: 'upstream_error',
    when: 'Files, of a model or of CUDA, cannot be had from where they are: not there, not allowed, not reachable, or not what they should be.',
  },
  model_refused: {
    type: 'invalid_request_error',
    when: 'A model cannot be pulled as it is: the message says what was found, and which option answers it.',
  },
  cannot_learn: {
    type: 'invalid_request_error',
    when: 'Nothing can be learned under this name or on this base: the message says why, and which option answers it.',
  },
  store_failed: { type: 'server_error', when: 'The store cannot be opened, or is in use.' },
  no_answer: { type: 'upstream_error', when: 'The server that was asked did not answer.' },
} as const;

export type CommandCode = keyof typeof COMMAND_CODES;

export function commandFailure(code: CommandCode, message: string): Failure {
  return { message, type: COMMAND_CODES[code].type, param: null, code };
}

/** A command that cannot do what it was asked to: exit 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly failure: Failure;

  /** @param words what people are told, where that is more than the message */
  constructor(failure: Failure, words = failure.message) {
    super(words);
    this.failure = failure;
  }
}
