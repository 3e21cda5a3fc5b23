// The state of the chat: what was said, what is being said, and what it used.

import { computed, signal } from '@preact/signals-core';
import type { Usage } from '../../domain/usage.ts';
import { streamChat } from '../api/chat-stream.ts';
import { findModel, keys } from './session.ts';

export interface ChatTurn {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

export const chatModel = signal<string | undefined>();
export const systemPrompt = signal('');
/** What is being written. */
export const nextMessage = signal('Name three things to check before signing a supply contract.');
export const turns = signal<readonly ChatTurn[]>([]);
export const chatUsage = signal<Usage | undefined>();
export const chatError = signal<unknown>();
/** Of the answer that is coming; undefined: none is. */
const underWay = signal<AbortController | undefined>();
export const isStreaming = computed(() => underWay.value !== undefined);

/** As the next request would send them. */
export const messages = computed(() => {
  const system = systemPrompt.value === '' ? [] : [{ role: 'system', content: systemPrompt.value }];
  const next = nextMessage.value === '' ? [] : [{ role: 'user', content: nextMessage.value }];
  return [...system, ...turns.value, ...next];
});

export async function sendMessage(): Promise<void> {
  const key = keys.key.value;
  const model = findModel('llm', chatModel.value);
  if (key === undefined || model === undefined || nextMessage.value === '' || isStreaming.value) return;
  const asked = messages.value;
  const before: readonly ChatTurn[] = [...turns.value, { role: 'user', content: nextMessage.value }];
  const own = new AbortController();
  underWay.value = own;
  nextMessage.value = '';
  chatError.value = undefined;
  chatUsage.value = undefined;
  let answer = '';
  const show = (part: string): void => {
    answer += part;
    turns.value = [...before, { role: 'assistant', content: answer }];
  };
  turns.value = before;
  try {
    await streamChat(
      { key, modelId: model.id, messages: asked, signal: own.signal },
      {
        text: show,
        usage: (usage) => {
          chatUsage.value = usage;
        },
      },
    );
  } catch (error) {
    // Stopped on purpose: what came is kept.
    if (!own.signal.aborted) chatError.value = error;
  } finally {
    underWay.value = undefined;
  }
}

export function stopAnswer(): void {
  underWay.value?.abort();
}

export function clearChat(): void {
  stopAnswer();
  turns.value = [];
  chatUsage.value = undefined;
  chatError.value = undefined;
}
