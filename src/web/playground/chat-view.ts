// The tab of the chat: one conversation, as it streams.

import { h, type JSX, type TargetedEvent } from 'preact';
import { CodeSamples } from '../components/code-samples.ts';
import { formatNumber } from '../format/figures.ts';
import { chatSamples } from '../samples/openai-samples.ts';
import {
  chatError,
  chatModel,
  chatUsage,
  clearChat,
  isStreaming,
  messages,
  nextMessage,
  sendMessage,
  stopAnswer,
  systemPrompt,
  turns,
} from './chat-form.ts';
import { KeyedErrorNotice } from './key-gate.ts';
import { ModelField } from './model-field.ts';
import { findModel } from './session.ts';

export function ChatView(): JSX.Element {
  const modelId = findModel('llm', chatModel.value)?.id ?? '';
  const samples = chatSamples(location.origin, modelId, JSON.stringify(messages.value, null, 2));
  return h('div', { class: 'workbench' }, [
    h('div', { class: 'column' }, [
      h('section', { class: 'panel chat', 'aria-labelledby': 'chat-title' }, [
        h('div', { class: 'panel-head' }, [
          h('h2', { id: 'chat-title' }, 'Chat'),
          h('button', { type: 'button', class: 'button button-small', onClick: clearChat }, 'Start anew'),
        ]),
        h(Conversation, {}),
        h(KeyedErrorNotice, { error: chatError.value }),
        h(Composer, {}),
        h(UsageLine, {}),
      ]),
    ]),
    h('div', { class: 'column' }, [
      h('section', { class: 'panel questions', 'aria-labelledby': 'settings-title' }, [
        h('h2', { id: 'settings-title' }, 'Settings'),
        h(ModelField, { type: 'llm', chosen: chatModel }),
        h('label', { class: 'field' }, [
          h('span', { class: 'field-label' }, 'System prompt (optional)'),
          h('textarea', {
            rows: 3,
            value: systemPrompt.value,
            onInput: (event: TargetedEvent<HTMLTextAreaElement>) => {
              systemPrompt.value = event.currentTarget.value;
            },
          }),
        ]),
      ]),
      h('section', { class: 'panel', 'aria-labelledby': 'chat-code-title' }, [
        h('h2', { id: 'chat-code-title' }, 'This request as code'),
        h(CodeSamples, { samples }),
      ]),
    ]),
  ]);
}

function Conversation(): JSX.Element {
  const shown = turns.value.map(({ role, content }, index) =>
    h('li', { class: `turn turn-${role}`, key: index }, [
      h('span', { class: 'turn-role' }, role === 'user' ? 'You' : 'Model'),
      h('p', null, content),
    ]),
  );
  // Said when it is whole: a screen reader would stumble over its parts.
  return h('ol', { class: 'turns', 'aria-live': 'polite', 'aria-busy': isStreaming.value }, shown);
}

function Composer(): JSX.Element {
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    void sendMessage();
  };
  const sendByKey = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    void sendMessage();
  };
  return h('form', { class: 'composer', onSubmit: submit }, [
    h('textarea', {
      'aria-label': 'Your message',
      placeholder: 'Write a message. Enter sends it, Shift-Enter begins a line.',
      rows: 3,
      value: nextMessage.value,
      onKeyDown: sendByKey,
      onInput: (event: TargetedEvent<HTMLTextAreaElement>) => {
        nextMessage.value = event.currentTarget.value;
      },
    }),
    isStreaming.value
      ? h('button', { type: 'button', class: 'button', onClick: stopAnswer }, 'Stop')
      : h('button', { type: 'submit', class: 'button button-strong' }, 'Send'),
  ]);
}

function UsageLine(): JSX.Element {
  const usage = chatUsage.value;
  const said = usage && `${formatNumber(usage.inputTokens)} tokens in, ${formatNumber(usage.outputTokens)} out`;
  return h('p', { class: 'soft', role: 'status' }, isStreaming.value ? 'Answering…' : said);
}
