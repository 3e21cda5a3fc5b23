// How the server that answers fares now: its state, its workers and queue, its caches, and what it refused.

import { h, type JSX } from 'preact';
import { ErrorNotice } from '../components/notice.ts';
import { askAdmin } from './admin-api.ts';
import { DataTable } from './data-table.ts';
import { usePolled } from './polled.ts';
import { Moment, showCount, showDuration, showShare } from './shown-figures.ts';
import type { ErrorFigures, StatusFigures } from './wire-types.ts';

const REFRESH_MS = 4000;
const loadStatus = (abort: AbortSignal): Promise<StatusFigures> => askAdmin('/status', { signal: abort });

export function ServerPanel(): JSX.Element {
  const { value, error } = usePolled(loadStatus, REFRESH_MS);
  return h('section', { class: 'panel server', 'aria-labelledby': 'server-title' }, [
    h('div', { class: 'server-head' }, [
      h('h2', { id: 'server-title' }, 'Server'),
      value === undefined ? null : h(StateMark, { state: error === undefined ? value.state : 'unreachable' }),
      value === undefined ? null : h(ServerName, { status: value }),
    ]),
    h(ErrorNotice, { error }),
    value === undefined ? null : h(ServerFigures, { status: value }),
    value === undefined ? null : h(Refusals, { errors: value.errors }),
  ]);
}

function StateMark({ state }: { readonly state: string }): JSX.Element {
  return h('span', { class: `pill ${state === 'ready' ? 'pill-good' : 'pill-bad'}`, role: 'status' }, state);
}

function ServerName({
  status: { host, process_id, version, started_at },
}: {
  readonly status: StatusFigures;
}): JSX.Element {
  return h('p', { class: 'soft' }, [
    `umpire ${version} on ${host}, process ${process_id}, since `,
    h(Moment, { at: started_at }),
    '. Other servers on the same store have figures of their own.',
  ]);
}

function ServerFigures({ status }: { readonly status: StatusFigures }): JSX.Element {
  const { engine, caches, requests_under_way: underWay } = status;
  const { answers } = caches;
  const asked = answers === null ? 0 : answers.run + answers.merged + answers.kept;
  return h('dl', { class: 'server-facts' }, [
    fact('Workers busy', `${engine.busy_workers} of ${engine.workers}`, engine.device),
    fact(
      'Queue',
      showCount(engine.queued_jobs),
      engine.queued_jobs === 0 ? 'nothing waits' : `about ${showDuration(engine.queued_cost_ms)} of work`,
    ),
    fact('Requests under way', showCount(underWay), 'this page among them'),
    fact(
      'Answers not computed again',
      answers === null ? 'off' : showShare(answers.kept + answers.merged, asked),
      answers === null ? 'answers are not shared' : `of ${showCount(asked)} since the start`,
    ),
    fact(
      'Document tokens kept',
      showShare(caches.kept_tokens, caches.state_tokens),
      `of ${showCount(caches.state_tokens)} since the start`,
    ),
  ]);
}

function fact(label: string, value: string, note: string): JSX.Element {
  return h('div', { key: label }, [h('dt', null, label), h('dd', null, value), h('dd', { class: 'soft' }, note)]);
}

function Refusals({ errors }: { readonly errors: readonly ErrorFigures[] }): JSX.Element {
  const columns = [
    { heading: 'Code', isName: true, show: ({ code }: ErrorFigures) => h('code', null, code) },
    { heading: 'Status', isNumber: true, show: ({ status }: ErrorFigures) => status },
    { heading: 'Last hour', isNumber: true, show: (each: ErrorFigures) => showCount(each.last_hour) },
    { heading: 'Since start', isNumber: true, show: (each: ErrorFigures) => showCount(each.since_start) },
    { heading: 'By minute', show: (each: ErrorFigures) => h(Spark, { counts: each.by_minute }) },
  ];
  return h('div', null, [
    h('h3', null, 'Refused and failed'),
    h(DataTable<ErrorFigures>, {
      caption: 'Requests that ended with an error, by code',
      columns,
      rows: errors,
      keyOf: ({ code }) => code,
      none: 'Nothing was refused and nothing failed since the start.',
    }),
  ]);
}

/** The last hour as sixty bars; screen readers have the sums beside it. */
function Spark({ counts }: { readonly counts: readonly number[] }): JSX.Element {
  const most = Math.max(1, ...counts);
  const bars = counts.map((count, index) => {
    const height = count === 0 ? 0 : Math.max(2, (16 * count) / most);
    return h('rect', { key: index, x: index * 2, y: 16 - height, width: 1.5, height });
  });
  return h('svg', { class: 'spark', viewBox: '0 0 120 16', width: 120, height: 16, 'aria-hidden': true }, [
    h('path', { d: 'M0 15.5h120', class: 'spark-ground' }),
    bars,
  ]);
}
