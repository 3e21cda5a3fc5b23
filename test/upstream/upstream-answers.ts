// What an upstream may answer: whole and streamed completions, refusals, and everything that can go wrong on the way.

import type { ServerResponse } from 'node:http';
import type { AnswerScript } from './upstream-double.ts';

/** The upstream's own name of its model, in everything it says. */
export const UPSTREAM_MODEL = 'vendor/llama-7b';
export const USAGE = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };

export function completion(fields: object = {}): Record<string, unknown> {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: UPSTREAM_MODEL,
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello there!' }, finish_reason: 'stop' }],
    usage: USAGE,
    ...fields,
  };
}

export function chunk(fields: object = {}): Record<string, unknown> {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: UPSTREAM_MODEL,
    ...fields,
  };
}

export function deltaChunk(content: string, finishReason: string | null = null): Record<string, unknown> {
  return chunk({ choices: [{ index: 0, delta: { content }, finish_reason: finishReason }] });
}

/** What a well-behaved upstream streams, with usage in a chunk of its own. */
export const HELLO_CHUNKS = [
  chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] }),
  deltaChunk('Hello'),
  deltaChunk(' there!'),
  chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
];
export const USAGE_CHUNK = chunk({ choices: [], usage: USAGE });

export function event(data: unknown): string {
  return `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
}

export function streamText(chunks: readonly unknown[]): string {
  return [...chunks, '[DONE]'].map(event).join('');
}

export function startStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
}

export function replyJson(body: unknown, status = 200, headers: Record<string, string> = {}): AnswerScript {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

export function refuse(status: number, error: object, headers: Record<string, string> = {}): AnswerScript {
  return replyJson({ error }, status, headers);
}

/** A stream with usage at its end, as it would be after `include_usage`. */
export function streamChunks(chunks: readonly unknown[] = [...HELLO_CHUNKS, USAGE_CHUNK]): AnswerScript {
  return streamRaw(streamText(chunks));
}

export function streamRaw(text: string): AnswerScript {
  return (response) => {
    startStream(response);
    response.end(text);
  };
}

/** Begins a stream and says no more, until the connection ends. */
export function stallAfter(chunks: readonly unknown[]): AnswerScript {
  return (response) => {
    startStream(response);
    for (const data of chunks) response.write(event(data));
  };
}

/** Goes on for as long as anybody reads. @param onWrite told the bytes handed to the connection so far */
export function streamEndlessly(content: string, onWrite: (bytes: number) => void = () => undefined): AnswerScript {
  const line = event(deltaChunk(content));
  return (response) => {
    let bytes = 0;
    const pump = () => {
      while (response.writable) {
        bytes += line.length;
        onWrite(bytes);
        if (!response.write(line)) return;
      }
    };
    startStream(response);
    response.on('drain', pump);
    pump();
  };
}

/** Breaks the connection in mid-stream. */
export function cutAfter(chunks: readonly unknown[]): AnswerScript {
  return (response) => {
    startStream(response);
    response.write(chunks.map(event).join(''), () => response.destroy());
  };
}

export const answerNothing: AnswerScript = () => undefined;

/** As both kinds of client ask: a stream or a whole completion, whichever was asked for. */
export const answerHello: AnswerScript = (response, request) => {
  const script = request.json.stream === true ? streamChunks() : replyJson(completion());
  return script(response, request);
};

/** As responses come: its type is the name of the event, too. */
export function namedEvent(type: string, fields: object): string {
  return `event: ${type}\n${event({ type, ...fields })}`;
}
