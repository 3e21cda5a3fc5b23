// One learned model: what its questions gained, what went wrong, and its end. Questions are told by their hashes, for their
// texts are kept nowhere.

import { h, type JSX } from 'preact';
import { useCallback, useState } from 'preact/hooks';
import { Modal } from '../components/modal.ts';
import { ErrorNotice } from '../components/notice.ts';
import { askAdmin } from './admin-api.ts';
import { DataTable, type TableColumn } from './data-table.ts';
import { useFormSending } from './form-sending.ts';
import { KeyName } from './key-names.ts';
import { tellLearning, VERDICTS } from './learning-words.ts';
import { usePolled } from './polled.ts';
import { Moment, showCount, showShare } from './shown-figures.ts';
import { SureQuestion } from './sure-question.ts';
import type { LearnedModelFigures, LearnedQuestionFigures, LearningFigures } from './wire-types.ts';

const REFRESH_MS = 2000;
const SHOWN_DIGITS = 12;

export interface LearnedModelDialogProps {
  /** undefined: closed. */
  readonly id: string | undefined;
  readonly onClose: () => void;
  readonly onRemoved: () => void;
}

export function LearnedModelDialog({ id, onClose, onRemoved }: LearnedModelDialogProps): JSX.Element {
  return h(
    Modal,
    { title: id ?? '', isOpen: id !== undefined, onClose },
    id === undefined ? null : h(LearnedModelDetails, { key: id, id, onRemoved }),
  );
}

interface DetailsProps {
  readonly id: string;
  readonly onRemoved: () => void;
}

function LearnedModelDetails({ id, onRemoved }: DetailsProps): JSX.Element {
  const path = `/models/${encodeURIComponent(id)}`;
  const load = useCallback((signal: AbortSignal) => askAdmin<LearnedModelFigures>(path, { signal }), [path]);
  const { value, error } = usePolled(load, REFRESH_MS);
  if (value === undefined) return h(ErrorNotice, { error });
  const { reason, digest, job } = value;
  return h('div', { class: 'dialog-details' }, [
    h(ErrorNotice, { error }),
    reason === null ? null : h('p', { class: 'notice notice-bad' }, `Requests are refused: ${reason}.`),
    digest === null ? null : h('p', { class: 'soft' }, ['Served: ', h('code', null, digest)]),
    job === null
      ? h('p', null, 'It was not learned through this server: its figures are in its folder.')
      : h(LastLearning, { job }),
    h(Removal, { path, isRunning: job?.state === 'running', onRemoved }),
  ]);
}

function LastLearning({ job }: { readonly job: LearningFigures }): JSX.Element {
  return h('section', { class: 'dialog-details' }, [
    h('h3', null, 'Last learning'),
    h('p', null, [
      `${tellLearning(job)}; ${showCount(job.rows)} rows${job.base === null ? '' : ` on ${job.base}`}, ordered `,
      h(Moment, { at: job.started_at }),
      ' by ',
      h(KeyName, { id: job.started_by }),
    ]),
    job.error === null ? null : h('p', { class: 'notice notice-bad' }, job.error.message),
    job.report === null
      ? null
      : h(DataTable<LearnedQuestionFigures>, {
          caption: 'What each question gained',
          columns: QUESTIONS,
          rows: job.report.questions,
          keyOf: ({ asked, options }) => [asked, ...options.map(({ hash }) => hash)].join(' '),
          none: 'The rows asked nothing.',
        }),
  ]);
}

const accuracyOf = (measures: LearnedQuestionFigures['learned']): string =>
  measures?.accuracy ? showShare(measures.accuracy.mean, 1) : '–';

const QUESTIONS: readonly TableColumn<LearnedQuestionFigures>[] = [
  {
    heading: 'Question',
    isName: true,
    show: ({ type, asked }) => [`${type} `, h('code', { title: asked }, asked.slice(0, SHOWN_DIGITS))],
  },
  { heading: 'Rows', isNumber: true, show: ({ rows }) => showCount(rows) },
  {
    heading: 'Right',
    isNumber: true,
    show: ({ zero_shot, learned }) => `${accuracyOf(zero_shot)} → ${accuracyOf(learned)}`,
  },
  {
    heading: 'Came of it',
    show: ({ verdict, would_more_help }) => `${VERDICTS[verdict]}${would_more_help ? '; more rows would help' : ''}`,
  },
];

interface RemovalProps {
  readonly path: string;
  readonly isRunning: boolean;
  readonly onRemoved: () => void;
}

function Removal({ path, isRunning, onRemoved }: RemovalProps): JSX.Element {
  const [isSure, setIsSure] = useState(false);
  const removing = useFormSending(async () => {
    await askAdmin(path, { method: 'DELETE' });
    onRemoved();
  });
  return h('div', { class: 'form' }, [
    h(ErrorNotice, { error: removing.error }),
    isSure
      ? h(SureQuestion, {
          act: isRunning ? 'Cancel the learning' : 'Remove for good',
          question: isRunning
            ? 'Cancel it? What it has read is lost, and the model that was there stays.'
            : 'Remove this model? Requests for it are refused at once, and it cannot be taken back.',
          onAct: removing.send,
          onKeep: () => setIsSure(false),
        })
      : h('div', { class: 'buttons' }, [
          h(
            'button',
            { type: 'button', class: 'button button-bad', onClick: () => setIsSure(true) },
            isRunning ? 'Cancel…' : 'Remove…',
          ),
        ]),
  ]);
}
