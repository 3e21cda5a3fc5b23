// The newest answers, what one would do with them at a threshold, and what they cost.

import { h, type JSX } from 'preact';
import { RequestError } from '../api/call-api.ts';
import { FactList } from '../components/fact-list.ts';
import { formatPercent } from '../format/figures.ts';
import { AnswerCard, wordOf } from './answer-card.ts';
import { readAnswers, type ShownAnswer } from './decision-answer.ts';
import { decisionModel, decisions, drafts, draftsError, gaps, isLive, threshold } from './decision-form.ts';
import { KeyedErrorNotice, KeyGate } from './key-gate.ts';
import { ModelField } from './model-field.ts';

export function AnswersPanel(): JSX.Element {
  return h('section', { class: 'panel', 'aria-labelledby': 'answers-title' }, [
    h('div', { class: 'panel-head' }, [
      h('h2', { id: 'answers-title' }, 'Answers'),
      h('span', { class: 'soft' }, describeState()),
      h('label', { class: 'check live-switch' }, [
        h('input', {
          type: 'checkbox',
          checked: isLive.value,
          onChange: (event) => {
            isLive.value = event.currentTarget.checked;
          },
        }),
        h('span', null, 'Ask as I type'),
      ]),
      !isLive.value &&
        h('button', { type: 'button', class: 'button button-small', onClick: decisions.askNow }, 'Ask now'),
    ]),
    h(ModelField, { type: 'decision', chosen: decisionModel }),
    h(ThresholdField, {}),
    h(KeyGate, { type: 'decision', children: h(NewestAnswers, {}) }),
  ]);
}

function describeState(): string {
  if (draftsError.value !== undefined) return 'Waiting for JSON that can be read';
  if (gaps.value.size > 0) return 'Waiting for the questions to be complete';
  if (drafts.value.length === 0) return 'Nothing is asked';
  return decisions.isAsking.value ? 'Asking…' : '';
}

function ThresholdField(): JSX.Element {
  const { value } = threshold;
  return h('label', { class: 'threshold' }, [
    h('span', null, ['Ask a person below ', h('output', null, `${Math.round(value * 100)} %`)]),
    h('input', {
      type: 'range',
      min: 50,
      max: 100,
      step: 1,
      value: Math.round(value * 100),
      onInput: (event) => {
        threshold.value = event.currentTarget.valueAsNumber / 100;
      },
    }),
  ]);
}

function NewestAnswers(): JSX.Element {
  const error = decisions.error.value;
  const newest = decisions.answer.value;
  const isStale = decisions.isAsking.value || error !== undefined || gaps.value.size > 0;
  const isElsewhere = error instanceof RequestError && error.param?.startsWith('questions[') === true;
  const read = newest === undefined ? undefined : attemptToRead(newest.reply.body, newest.subject);
  const answers = Array.isArray(read) ? read : [];
  return h('div', { class: 'answers' }, [
    h(KeyedErrorNotice, {
      error: isElsewhere ? `${error.message} See the question.` : (error ?? (Array.isArray(read) ? undefined : read)),
    }),
    h('div', { class: isStale ? 'answer-list is-stale' : 'answer-list' }, [
      answers.map((answer) => h(AnswerCard, { answer, threshold: threshold.value, key: answer.name })),
      newest && h(FactList, { reply: newest.reply }),
    ]),
    h('p', { class: 'for-ears', role: 'status' }, isStale ? '' : answers.map(say).join('. ')),
  ]);
}

/** @returns what was thrown where it is none of ours */
function attemptToRead(...given: Parameters<typeof readAnswers>): readonly ShownAnswer[] | unknown {
  try {
    return readAnswers(...given);
  } catch (error) {
    return error;
  }
}

function say({ name, best }: ShownAnswer): string {
  const verdict = best.probability >= threshold.value ? 'act' : 'ask a person';
  return `${name}: ${wordOf(best)}, ${formatPercent(best.probability)}, ${verdict}`;
}
