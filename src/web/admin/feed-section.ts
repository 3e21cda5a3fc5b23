// Requests as they end, without their texts: the newest on top, from all servers on the store.

import { h, type JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ErrorNotice } from '../components/notice.ts';
import { formatDollars } from '../format/figures.ts';
import { DataTable, type TableColumn } from './data-table.ts';
import { FeedReader } from './feed-reader.ts';
import { enteredText } from './form-field.ts';
import { KeyName, nameOfKey } from './key-names.ts';
import { Moment, showCount, showDuration } from './shown-figures.ts';
import type { EndedRow } from './wire-types.ts';

const TIME: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', second: '2-digit' };
const reader = new FeedReader();

const COLUMNS: readonly TableColumn<EndedRow>[] = [
  { heading: 'Ended', isName: true, show: (row) => h(Moment, { at: endOf(row), format: TIME }) },
  { heading: 'Key', show: ({ key }) => h(KeyName, { id: key }) },
  { heading: 'Model', isShort: true, show: ({ model }) => model },
  {
    heading: 'Endpoint',
    isShort: true,
    show: ({ endpoint, streamed }) => `${endpoint.replace('/ai/v1/', '')}${streamed ? ', streamed' : ''}`,
  },
  {
    heading: 'Reply',
    show: ({ end, status, error_code }) =>
      h(
        'span',
        { class: `pill ${end === 'completed' ? 'pill-good' : 'pill-bad'}` },
        [status, ' ', error_code ?? end].join(''),
      ),
  },
  { heading: 'Tokens in', isNumber: true, show: ({ input_tokens }) => showCount(input_tokens) },
  { heading: 'Out', isNumber: true, show: ({ output_tokens }) => showCount(output_tokens) },
  { heading: 'Time', isNumber: true, show: ({ duration_ms }) => showDuration(duration_ms) },
  { heading: 'Cost', isNumber: true, show: ({ cost_usd }) => formatDollars(Number(cost_usd)) },
  { heading: 'Request', show: ({ request_id }) => h('code', { class: 'request-id', title: request_id }, request_id) },
];

export function FeedSection(): JSX.Element {
  const [isPaused, setIsPaused] = useState(false);
  const [wanted, setWanted] = useState('');
  useEffect(() => {
    return isPaused ? undefined : reader.follow();
  }, [isPaused]);
  const { rows, error, hasGap, hasRead } = reader.state.value;
  const shown = rows.filter((row) => matchesText(row, wanted.trim().toLowerCase()));
  return h('div', { class: 'section' }, [
    h('div', { class: 'toolbar' }, [
      h('h2', null, 'Live requests'),
      h('span', { class: `pill ${isPaused ? '' : 'pill-good'}`, role: 'status' }, isPaused ? 'paused' : 'live'),
      h('label', { class: 'search toolbar-end' }, [
        h('span', { class: 'for-ears' }, 'Show those with'),
        h('input', {
          type: 'search',
          placeholder: 'Key, model, code, request id',
          value: wanted,
          onInput: (event: Event) => setWanted(enteredText(event)),
        }),
      ]),
      h(
        'button',
        { type: 'button', class: 'button', onClick: () => setIsPaused(!isPaused) },
        isPaused ? 'Go on' : 'Pause',
      ),
    ]),
    h(
      'p',
      { class: 'soft' },
      'Accepted requests of the last hour, about a second after they end. Refused ones leave no row: the overview counts them.',
    ),
    h(ErrorNotice, { error }),
    hasGap
      ? h(
          'p',
          { class: 'notice notice-warn' },
          'This page slept for more than an hour: older requests are in the list of requests, umpire requests.',
        )
      : null,
    h(
      'div',
      { class: 'panel panel-flush' },
      h(DataTable<EndedRow>, {
        caption: 'Requests, those that ended last first',
        columns: COLUMNS,
        rows: shown,
        keyOf: ({ id }) => id,
        none: emptyText(hasRead, rows.length),
      }),
    ),
  ]);
}

function emptyText(hasRead: boolean, rows: number): string {
  if (!hasRead) return 'Loading…';
  return rows === 0
    ? 'Nothing has ended in the last hour. Send a request, and it is here a second later.'
    : 'None of the requests here has that.';
}

function endOf({ accepted_at, duration_ms }: EndedRow): string {
  return new Date(Date.parse(accepted_at) + duration_ms).toISOString();
}

function matchesText({ key, model, endpoint, end, error_code, request_id, status }: EndedRow, wanted: string): boolean {
  const texts = [key, nameOfKey(key), model, endpoint, end, error_code ?? '', request_id, String(status)];
  return wanted === '' || texts.some((text) => text.toLowerCase().includes(wanted));
}
