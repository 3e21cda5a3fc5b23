// A client that left before its reply.

/** Reason of signals that end its work. Nobody is left to be answered, so this is neither logged nor counted as an error. */
export class ClientLeftError extends Error {
  override readonly name = 'ClientLeftError';

  constructor() {
    super('The client left before its reply.');
  }
}
