// A store that cannot be opened. The message is for whoever starts the server; no client ever sees it.

export class StorageError extends Error {
  override readonly name = 'StorageError';
}
