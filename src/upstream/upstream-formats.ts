// The formats that an upstream may serve: where, which members of a request we act on, what it will use, and who translates
// the answer.

import type { ChatFormat, ChatRequest } from '../domain/chat.ts';
import { AppError } from '../domain/errors.ts';
import type { BilledTokens } from '../domain/money.ts';
import { estimateInputTokens, expectedTokens, type RequestBody } from './chat-estimate.ts';
import { ReplyTranslator, type Translator, type TranslatorOptions } from './reply-translator.ts';
import { estimatePrompt, estimateResponseInput, expectedOfPrompt, expectedOfResponse } from './response-estimate.ts';
import { ResponseTranslator } from './response-translator.ts';
import type { ChatUpstreamOptions } from './upstream-options.ts';

export interface UpstreamFormat {
  /** Below the base address. */
  readonly path: string;
  /** Members we act on. Twice the same one could mean one thing to us and another to the upstream. */
  readonly readMembers: readonly string[];
  /** @throws AppError `invalid_request` where a request cannot be passed on */
  refuse(body: RequestBody): void;
  expect(body: RequestBody, options: ChatUpstreamOptions): BilledTokens;
  /** Prompt tokens. */
  estimate(body: RequestBody): number;
  translator(request: ChatRequest, options: TranslatorOptions): Translator;
}

/** What lasts longer than a request belongs to the account at the upstream, which all keys share; and nobody would pay it. */
const NOT_PASSED_ON = {
  background: 'would run on after its reply, when nobody counts its tokens',
  previous_response_id: 'names what an upstream has kept; send the conversation in `input` instead',
  conversation: 'names what an upstream has kept; send the conversation in `input` instead',
} as const;

/** Completions have replies, chunks and usage of the same form. */
const REPLIES_OF_CHAT: Pick<UpstreamFormat, 'refuse' | 'translator'> = {
  refuse: () => undefined,
  translator: (request, options) => new ReplyTranslator(request, options),
};

export const UPSTREAM_FORMATS: Readonly<Record<ChatFormat, UpstreamFormat>> = {
  chat: {
    path: '/chat/completions',
    readMembers: ['model', 'messages', 'stream', 'stream_options', 'max_tokens', 'max_completion_tokens', 'n'],
    ...REPLIES_OF_CHAT,
    expect: expectedTokens,
    estimate: estimateInputTokens,
  },
  completions: {
    path: '/completions',
    readMembers: ['model', 'prompt', 'stream', 'stream_options', 'max_tokens', 'n', 'best_of'],
    ...REPLIES_OF_CHAT,
    expect: expectedOfPrompt,
    estimate: estimatePrompt,
  },
  responses: {
    path: '/responses',
    readMembers: ['model', 'input', 'stream', 'max_output_tokens', ...Object.keys(NOT_PASSED_ON)],
    refuse: refuseKept,
    expect: expectedOfResponse,
    estimate: estimateResponseInput,
    translator: (_request, options) => new ResponseTranslator(options),
  },
};

function refuseKept(body: RequestBody): void {
  for (const [name, reason] of Object.entries(NOT_PASSED_ON)) {
    const value = body[name];
    if (value === undefined || value === null || value === false) continue;
    throw new AppError('invalid_request', `The field '${name}' is not passed on: it ${reason}.`, { param: name });
  }
}
