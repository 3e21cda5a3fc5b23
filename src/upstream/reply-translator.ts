// From an upstream's reply in the chat format, or that of completions, to ours: the model id put back, usage normalised,
// hidden, asked for late, or estimated where the upstream tells none. Everything else stays to the letter. Pure; one
// translator per request.

import type { ChatChunk, ChatFormat, ChatRequest } from '../domain/chat.ts';
import { isRecord, type JsonMember } from '../domain/json.ts';
import { measureMessage } from './chat-estimate.ts';
import type { AnswerTokens } from './chat-upstream.ts';
import { parseObject } from './json-object.ts';
import { editMembers, findValue, listMembers } from './json-text.ts';
import type { ServerSentEvent } from './sse.ts';
import { measureText, toTokens } from './token-estimate.ts';
import { reportedError } from './upstream-failure.ts';
import { UpstreamFault } from './upstream-fault.ts';
import type { ChatUpstreamOptions } from './upstream-options.ts';
import { type ReportedUsage, readUsage } from './upstream-usage.ts';

const DONE = '[DONE]';
/** A member beside `usage` whose counts are ours: the same that are billed. */
export const ESTIMATED = { name: 'x-umpire-usage', json: '"estimated"' } as const;

/** What a translator of any format does. */
export interface Translator {
  /** Of what has come so far. */
  tokens(): AnswerTokens;
  /** @throws UpstreamFault when the text is not such an answer, or the upstream's own error */
  translateWhole(text: string): string;
  /**
   * @returns what the client is sent, or undefined where there is nothing in it for the client
   * @throws UpstreamFault when it is no event of the format, or the upstream's own error
   */
  translateEvent(event: ServerSentEvent): ChatChunk | undefined;
  /** The last event has come: what follows is the end of the body. */
  readonly isOver: boolean;
  /** Where the stream ends without its last event: whether it was whole all the same. */
  readonly isWhole: boolean;
  /** What the client is sent before the end, beside what came. */
  lateChunk(): ChatChunk | undefined;
}

export interface TranslatorOptions extends Pick<ChatUpstreamOptions, 'modelId' | 'reasoning'> {
  /** Prompt tokens that are billed where the upstream tells no usage. */
  readonly inputEstimate: number;
}

export class ReplyTranslator implements Translator {
  readonly #format: ChatFormat;
  #isOver = false;
  readonly #includesUsage: boolean;
  readonly #options: TranslatorOptions;
  #reported: ReportedUsage | undefined;
  /** Hundredths of a token in the texts so far. */
  #measured = 0;
  #sawFinishReason = false;
  /** The last chunk for the client, and whether its usage is the one that is billed. */
  #lastSent: { readonly text: string; readonly hadUsage: boolean } | undefined;

  constructor({ includeUsage, format }: ChatRequest, options: TranslatorOptions) {
    this.#format = format;
    this.#includesUsage = includeUsage;
    this.#options = options;
  }

  tokens(): AnswerTokens {
    return { usage: this.#reported?.counted, outputEstimate: toTokens(this.#measured) };
  }

  /** Every choice ends with a reason: without one, a stream that ends without `[DONE]` was cut. */
  get isWhole(): boolean {
    return this.#sawFinishReason;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  translateEvent({ type, data }: ServerSentEvent): ChatChunk | undefined {
    this.#isOver = data === DONE;
    if (this.#isOver) return undefined;
    if (type === 'error') throw reportedError(parseObject(data)?.['error']);
    const json = this.#translateChunk(data);
    return json === undefined ? undefined : { json };
  }

  translateWhole(text: string): string {
    const reply = readUpstreamReply(text);
    if (!Array.isArray(reply['choices'])) {
      throw new UpstreamFault('broken_reply', 'The upstream answered with something that is not a chat completion.');
    }
    for (const choice of reply['choices']) if (isRecord(choice)) this.#measured += measureChoice(choice, 'message');
    const members = listMembers(text);
    const edits = this.#edits(text, members);
    if (this.#reported === undefined) this.#addEstimate(edits);
    return editMembers(text, members, edits);
  }

  #translateChunk(text: string): string | undefined {
    const chunk = readUpstreamReply(text);
    const choices = Array.isArray(chunk['choices']) ? chunk['choices'] : [];
    for (const choice of choices.filter(isRecord)) {
      this.#sawFinishReason ||= typeof choice['finish_reason'] === 'string';
      this.#measured += measureChoice(choice, 'delta');
    }

    const members = listMembers(text);
    const known = this.#reported;
    const edits = this.#edits(text, members);
    const hasUsage = isRecord(chunk['usage']);
    if (!this.#includesUsage) {
      if (hasUsage && choices.length === 0) return undefined;
      edits.set('usage', undefined);
    }
    const translated = editMembers(text, members, edits);
    this.#lastSent = { text: translated, hadUsage: this.#reported !== known };
    return translated;
  }

  /**
   * The client is promised usage in the last chunk: where the upstream told it earlier, or none that can be believed, one
   * more chunk says what is billed.
   */
  lateChunk(): ChatChunk | undefined {
    if (!this.#includesUsage || this.#lastSent?.hadUsage === true) return undefined;
    const text = this.#lastSent?.text ?? this.#emptyChunk();
    const edits = new Map<string, string | undefined>([['choices', '[]']]);
    if (this.#reported === undefined) this.#addEstimate(edits);
    else edits.set('usage', this.#reported.json);
    return { json: editMembers(text, listMembers(text), edits) };
  }

  #addEstimate(edits: Map<string, string | undefined>): void {
    const [prompt, completion] = [this.#options.inputEstimate, toTokens(this.#measured)];
    const usage = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
    edits.set('usage', JSON.stringify(usage));
    edits.set(ESTIMATED.name, ESTIMATED.json);
  }

  /** Of a stream that had none. */
  #emptyChunk(): string {
    const created = Math.floor(Date.now() / 1000);
    const object = this.#format === 'chat' ? 'chat.completion.chunk' : 'text_completion';
    return JSON.stringify({ id: '', object, created, model: this.#options.modelId });
  }

  #edits(text: string, members: readonly JsonMember[]): Map<string, string | undefined> {
    const edits = new Map<string, string | undefined>([['model', JSON.stringify(this.#options.modelId)]]);
    const usage = findValue(text, members, 'usage');
    const reported = usage === undefined ? undefined : readUsage(usage, this.#options.reasoning?.usage);
    if (reported !== undefined) {
      this.#reported = reported;
      edits.set('usage', reported.json);
    }
    return edits;
  }
}

/** A choice of completions has its text in itself. */
function measureChoice(choice: Record<string, unknown>, place: 'message' | 'delta'): number {
  return typeof choice['text'] === 'string' ? measureText(choice['text']) : measureMessage(choice[place]);
}

/** Some upstreams answer 200 and put their failure into the body or into an event. */
export function readUpstreamReply(text: string): Record<string, unknown> {
  const reply = parseObject(text);
  if (reply === undefined)
    throw new UpstreamFault('broken_reply', 'The upstream answered with something that is not JSON.');
  if (reply['error'] !== undefined && reply['error'] !== null) throw reportedError(reply['error']);
  if (reply['object'] === 'error') throw reportedError(reply);
  return reply;
}
