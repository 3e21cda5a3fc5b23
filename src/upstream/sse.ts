// Server-sent events out of a stream of bytes, one pull at a time. Grammar (CRLF, comments, several data lines, byte
// order mark) is eventsource-parser's; ours are the bytes: characters split between reads, and a bound on one event.

import { createParser } from 'eventsource-parser';
import { UpstreamFault } from './upstream-fault.ts';

export interface ServerSentEvent {
  /** undefined: the default type, `message`. */
  readonly type: string | undefined;
  readonly data: string;
}

/**
 * Reads no further than the consumer pulls. An event that the stream breaks off in is dropped, as the standard says.
 * @param maxEventLength in UTF-16 code units, of one event not yet complete
 * @throws UpstreamFault when an event is longer; whatever `bytes` throws
 */
export async function* readEvents(
  bytes: AsyncIterable<Uint8Array>,
  maxEventLength: number,
): AsyncGenerator<ServerSentEvent, void, undefined> {
  const decoder = new TextDecoder();
  let events: ServerSentEvent[] = [];
  let overflow = false;
  const parser = createParser({
    maxBufferSize: maxEventLength,
    onEvent: ({ event, data }) => events.push({ type: event, data }),
    onError: (error) => {
      overflow ||= error.type === 'max-buffer-size-exceeded';
    },
  });
  for await (const chunk of bytes) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    const complete = events;
    events = [];
    yield* complete;
    if (overflow) throw new UpstreamFault('broken_reply', 'The upstream sent an event that is too long.');
  }
}
