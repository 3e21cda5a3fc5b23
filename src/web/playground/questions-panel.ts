// The questions, as a form or as the JSON of a request: both show the same drafts.

import { h, type JSX, type TargetedEvent } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { RequestError } from '../api/call-api.ts';
import { ErrorNotice } from '../components/notice.ts';
import { Tabs } from '../components/tabs.ts';
import { addDraft, decisions, drafts, draftsError } from './decision-form.ts';
import { QuestionCard } from './question-card.ts';
import { type QuestionDraft, readDrafts, writeDrafts } from './question-draft.ts';

export function QuestionsPanel(): JSX.Element {
  const [chosen, setChosen] = useState('form');
  const choose = (id: string): void => {
    // What cannot be read has no form.
    if (draftsError.value === undefined) setChosen(id);
  };
  const tabs = [
    { id: 'form', label: 'Form', render: () => h(QuestionForm, {}) },
    { id: 'json', label: 'JSON', render: () => h(QuestionsJson, {}) },
  ];
  return h('section', { class: 'panel', 'aria-labelledby': 'questions-title' }, [
    h('h2', { id: 'questions-title' }, 'Questions'),
    h(Tabs, { label: 'How to write questions', tabs, chosen, onChoose: choose, size: 'small' }),
  ]);
}

function QuestionForm(): JSX.Element {
  const cards = drafts.value.map((draft, index) =>
    h(QuestionCard, { draft, number: index + 1, key: draft.id, error: errorOfQuestion(index) }),
  );
  return h('div', { class: 'questions' }, [
    cards.length === 0 && h('p', { class: 'hint' }, 'Add a question to ask something.'),
    cards,
    h('button', { type: 'button', class: 'button', onClick: addDraft }, 'Add a question'),
  ]);
}

/** The server names a question by its place: `questions[2].criteria`. */
function errorOfQuestion(index: number): unknown {
  const error = decisions.error.value;
  const isOfIt = error instanceof RequestError && error.param?.startsWith(`questions[${index}]`) === true;
  return isOfIt ? error : undefined;
}

function QuestionsJson(): JSX.Element {
  const [typed, setTyped] = useState(() => writeDrafts(drafts.value));
  const read = useRef<readonly QuestionDraft[]>(drafts.value);
  const isFromElsewhere = read.current !== drafts.value;
  const text = isFromElsewhere ? writeDrafts(drafts.value) : typed;
  const type = (written: string): void => {
    setTyped(written);
    try {
      read.current = readDrafts(written);
      drafts.value = read.current;
      draftsError.value = undefined;
    } catch (error) {
      read.current = drafts.value;
      draftsError.value = error instanceof Error ? error.message : error;
    }
  };
  return h('div', { class: 'questions' }, [
    h('textarea', {
      class: 'json',
      'aria-label': 'Questions as JSON',
      spellcheck: false,
      rows: Math.min(40, text.split('\n').length + 1),
      value: text,
      onInput: (event: TargetedEvent<HTMLTextAreaElement>) => type(event.currentTarget.value),
    }),
    h(ErrorNotice, { error: draftsError.value }),
  ]);
}
