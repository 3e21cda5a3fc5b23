// A page of a list as text. A stranger sends it, so that its length has a limit.

import { connectionFault, type HubAnswer } from './hub-connections.ts';
import { HubError } from './hub-error.ts';

const MAX_PAGE_BYTES = 32 * 1024 * 1024;

/** @throws TemporaryFault when it broke off; HubError; the signal's reason */
export async function readSmallText(
  { body }: HubAnswer,
  from: { readonly host: string; readonly signal: AbortSignal | undefined },
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > MAX_PAGE_BYTES) throw new HubError(`${from.host} answers with more than a list of files can be.`);
      chunks.push(chunk);
    }
  } catch (error) {
    from.signal?.throwIfAborted();
    throw error instanceof HubError ? error : connectionFault(error, from.host);
  }
  return Buffer.concat(chunks).toString('utf8');
}
