// From an upstream's reply in the format of responses to ours: the model id put back, usage normalised, or estimated where
// the upstream tells none. Everything else stays to the letter. Pure; one translator per request.

import type { ChatChunk } from '../domain/chat.ts';
import { isRecord } from '../domain/json.ts';
import type { AnswerTokens } from './chat-upstream.ts';
import { editMembers, findValue, listMembers } from './json-text.ts';
import { ESTIMATED, readUpstreamReply, type Translator, type TranslatorOptions } from './reply-translator.ts';
import { measureItems } from './response-estimate.ts';
import type { ServerSentEvent } from './sse.ts';
import { measureText, toTokens } from './token-estimate.ts';
import { reportedError } from './upstream-failure.ts';
import { UpstreamFault } from './upstream-fault.ts';
import { RESPONSE_USAGE, type ReportedUsage, readUsage } from './upstream-usage.ts';

/** The events that end a stream, but for those of failures. */
const LAST_EVENTS: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete']);

export class ResponseTranslator implements Translator {
  readonly #options: TranslatorOptions;
  #reported: ReportedUsage | undefined;
  /** Hundredths of a token in the texts so far. */
  #measured = 0;
  #isOver = false;

  constructor(options: TranslatorOptions) {
    this.#options = options;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Only the last event says so. */
  get isWhole(): boolean {
    return this.#isOver;
  }

  tokens(): AnswerTokens {
    return { usage: this.#reported?.counted, outputEstimate: toTokens(this.#measured) };
  }

  translateWhole(text: string): string {
    const reply = readUpstreamReply(text);
    if (reply['status'] === 'failed') throw reportedError(reply['error']);
    if (!Array.isArray(reply['output'])) {
      throw new UpstreamFault('broken_reply', 'The upstream answered with something that is not a response.');
    }
    this.#measured = measureItems(reply['output']);
    return this.#translateResponse(text, true);
  }

  translateEvent({ type: name, data }: ServerSentEvent): ChatChunk | undefined {
    // Not of the format, but some servers end every stream with it.
    if (data === '[DONE]') return undefined;
    const event = readUpstreamReply(data);
    const { type, delta, response } = event;
    if (type === 'error' || name === 'error') throw reportedError(event);
    if (type === 'response.failed') throw reportedError(isRecord(response) ? response['error'] : undefined);
    if (typeof delta === 'string' && !String(type).includes('audio.')) this.#measured += measureText(delta);
    this.#isOver = LAST_EVENTS.has(type);
    return { json: this.#translateInside(data), event: name ?? String(type) };
  }

  lateChunk(): undefined {
    return undefined;
  }

  /** An event about the response as a whole carries it. */
  #translateInside(text: string): string {
    const members = listMembers(text);
    const response = findValue(text, members, 'response');
    if (response === undefined || !response.startsWith('{')) return text;
    return editMembers(text, members, new Map([['response', this.#translateResponse(response, this.#isOver)]]));
  }

  /** @param isFinal whether usage belongs into it */
  #translateResponse(text: string, isFinal: boolean): string {
    const members = listMembers(text);
    const edits = new Map<string, string | undefined>([['model', JSON.stringify(this.#options.modelId)]]);
    const told = findValue(text, members, 'usage');
    const habit = this.#options.reasoning?.usage;
    const reported = told === undefined ? undefined : readUsage(told, habit, RESPONSE_USAGE);
    if (reported !== undefined) {
      this.#reported = reported;
      edits.set('usage', reported.json);
    }
    if (isFinal && this.#reported === undefined) {
      edits.set('usage', JSON.stringify(this.#estimate()));
      edits.set(ESTIMATED.name, ESTIMATED.json);
    }
    return editMembers(text, members, edits);
  }

  #estimate(): object {
    const [input, output] = [this.#options.inputEstimate, toTokens(this.#measured)];
    return {
      input_tokens: input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + output,
    };
  }
}
