// From an upstream's reply to ours: the model id put back, usage normalised, hidden, asked for late, or estimated where the
// upstream tells none. Everything else stays to the letter. Pure; one translator per request.

import type { ChatRequest } from '../domain/chat.ts';
import { AppError } from '../domain/errors.ts';
import { isRecord, type JsonMember } from '../domain/json.ts';
import { measureMessage } from './chat-estimate.ts';
import type { AnswerTokens } from './chat-upstream.ts';
import { parseObject } from './json-object.ts';
import { editMembers, findValue, listMembers } from './json-text.ts';
import { toTokens } from './token-estimate.ts';
import { reportedError } from './upstream-failure.ts';
import type { ChatUpstreamOptions } from './upstream-options.ts';
import { type ReportedUsage, readUsage } from './upstream-usage.ts';

/** A member beside `usage` whose counts are ours: the same that are billed. */
const ESTIMATED = { name: 'x-umpire-usage', json: '"estimated"' } as const;

export interface TranslatorOptions extends Pick<ChatUpstreamOptions, 'modelId' | 'reasoning'> {
  /** Prompt tokens that are billed where the upstream tells no usage. */
  readonly inputEstimate: number;
}

export class ReplyTranslator {
  readonly #includesUsage: boolean;
  readonly #options: TranslatorOptions;
  #reported: ReportedUsage | undefined;
  /** Hundredths of a token in the texts so far. */
  #measured = 0;
  #sawFinishReason = false;
  /** The last chunk for the client, and whether its usage is the one that is billed. */
  #lastSent: { readonly text: string; readonly hadUsage: boolean } | undefined;

  constructor({ includeUsage }: ChatRequest, options: TranslatorOptions) {
    this.#includesUsage = includeUsage;
    this.#options = options;
  }

  tokens(): AnswerTokens {
    return { usage: this.#reported?.counted, outputEstimate: toTokens(this.#measured) };
  }

  /** Every choice ends with a reason: without one, a stream that ends without `[DONE]` was cut. */
  sawFinishReason(): boolean {
    return this.#sawFinishReason;
  }

  /** @throws AppError `upstream_error` when the text is not a chat completion */
  translateCompletion(text: string): string {
    const reply = readReply(text);
    if (!Array.isArray(reply['choices'])) {
      throw new AppError('upstream_error', 'The upstream answered with something that is not a chat completion.');
    }
    for (const choice of reply['choices']) if (isRecord(choice)) this.#measured += measureMessage(choice['message']);
    const members = listMembers(text);
    const edits = this.#edits(text, members);
    if (this.#reported === undefined) this.#addEstimate(edits);
    return editMembers(text, members, edits);
  }

  /**
   * @returns the chunk for the client, or undefined when there is nothing in it that the client asked for
   * @throws AppError `upstream_error` when the text is not a chunk, or the upstream's own error
   */
  translateChunk(text: string): string | undefined {
    const chunk = readReply(text);
    const choices = Array.isArray(chunk['choices']) ? chunk['choices'] : [];
    for (const choice of choices.filter(isRecord)) {
      this.#sawFinishReason ||= typeof choice['finish_reason'] === 'string';
      this.#measured += measureMessage(choice['delta']);
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
  lateUsageChunk(): string | undefined {
    if (!this.#includesUsage || this.#lastSent?.hadUsage === true) return undefined;
    const text = this.#lastSent?.text ?? this.#emptyChunk();
    const edits = new Map<string, string | undefined>([['choices', '[]']]);
    if (this.#reported === undefined) this.#addEstimate(edits);
    else edits.set('usage', this.#reported.json);
    return editMembers(text, listMembers(text), edits);
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
    return JSON.stringify({ id: '', object: 'chat.completion.chunk', created, model: this.#options.modelId });
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

/** Some upstreams answer 200 and put their failure into the body or into an event. */
function readReply(text: string): Record<string, unknown> {
  const reply = parseObject(text);
  if (reply === undefined)
    throw new AppError('upstream_error', 'The upstream answered with something that is not JSON.');
  if (reply['error'] !== undefined && reply['error'] !== null) throw reportedError(reply['error']);
  return reply;
}
