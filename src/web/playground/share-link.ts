// What the form holds, as the fragment of the page's address: packed, in letters that mails leave alone, and without the
// key. A fragment is never sent to a server. What comes out of a link was written by anybody, and is read as such.

/** Version of what is in a link; another one is not read. */
const MARK = 'v1.';
/** Longer addresses are cut by mail programs and chats. */
export const MAX_LINK_CHARACTERS = 16_000;
/** What a link may grow to when it is unpacked. */
const MAX_TEXT_CHARACTERS = 2_000_000;

/** @param state anything that JSON can hold */
export async function packState(state: unknown): Promise<string> {
  const packed = new Blob([JSON.stringify(state)]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  const bytes = new Uint8Array(await new Response(packed).arrayBuffer());
  return MARK + toLetters(bytes);
}

/** @returns undefined: it holds no state that this page could have packed */
export async function unpackState(fragment: string): Promise<unknown> {
  if (!fragment.startsWith(MARK)) return undefined;
  try {
    const bytes = fromLetters(fragment.slice(MARK.length));
    return JSON.parse(
      await readBounded(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))),
    );
  } catch {
    return undefined;
  }
}

/** base64url, without padding. */
function toLetters(bytes: Uint8Array): string {
  const characters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  return btoa(characters).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

function fromLetters(letters: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(letters.replaceAll('-', '+').replaceAll('_', '/')), (character) =>
    character.charCodeAt(0),
  );
}

/** A few bytes may unpack to more than a browser holds. */
async function readBounded(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    text += part.value;
    if (text.length > MAX_TEXT_CHARACTERS) {
      await reader.cancel();
      throw new RangeError('The link unpacks to more than a page holds.');
    }
  }
  return text;
}
