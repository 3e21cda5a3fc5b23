// What the headers of a reply say of its making: time, money, and what had been kept.

import type { ApiReply } from './call-api.ts';

export interface ReplyFacts {
  readonly roundTripMs: number;
  /** Parts of the time on the server, by name: `queue`, `tokenize`, `infer`. */
  readonly serverMs: ReadonlyMap<string, number>;
  readonly costUsd: number | undefined;
  /** `hit`: a kept answer; `merged`: shared with an identical request; `miss`: computed. */
  readonly cache: string | undefined;
  /** Tokens of the document that need not be read again. */
  readonly keptTokens: number;
  readonly inputTokens: number | undefined;
}

export function readFacts({ headers, durationMs, body }: ApiReply): ReplyFacts {
  const cost = headers.get('x-umpire-cost-usd');
  return {
    roundTripMs: durationMs,
    serverMs: readServerTiming(headers.get('server-timing') ?? ''),
    costUsd: cost === null ? undefined : Number(cost),
    cache: headers.get('x-umpire-cache') ?? undefined,
    keptTokens: Number(headers.get('x-umpire-kept-tokens') ?? 0),
    inputTokens: findInputTokens(body),
  };
}

/** `queue;dur=0.569, infer;dur=42.405` */
function readServerTiming(text: string): Map<string, number> {
  const found = text.matchAll(/([a-z-]+);dur=([\d.]+)/g);
  return new Map(Array.from(found, ([, name = '', duration]) => [name, Number(duration)]));
}

/** Decisions say `input_tokens`, the chat format `prompt_tokens`. */
function findInputTokens(body: unknown): number | undefined {
  const { usage } = Object(body);
  const { input_tokens: input, prompt_tokens: prompt } = Object(usage);
  return [input, prompt].find((count) => typeof count === 'number');
}
