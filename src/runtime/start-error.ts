// A fault of the installation that stops the start: a broken model folder, a device that is not there, an answer that
// differs from the golden one. The message is for whoever starts the server; no client ever sees it.

export class StartError extends Error {
  override readonly name = 'StartError';
}
