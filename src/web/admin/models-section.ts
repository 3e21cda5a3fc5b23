// Which models this server offers and how they fare, and those that were learned from labelled rows.

import { h, type JSX } from 'preact';
import { useCallback, useState } from 'preact/hooks';
import { ErrorNotice } from '../components/notice.ts';
import { askAdmin } from './admin-api.ts';
import type { TableColumn } from './data-table.ts';
import { LearnedModelDialog } from './learned-model-dialog.ts';
import { REQUESTS, tellLearning } from './learning-words.ts';
import { Pill } from './pill.ts';
import { usePolled } from './polled.ts';
import { Moment, showCount } from './shown-figures.ts';
import { TablePanel } from './table-panel.ts';
import type { LearnedModelFigures, LocalModel, ShownPrice, StatusFigures } from './wire-types.ts';

const REFRESH_MS = 4000;
const LOCAL_LOOKS = { loaded: 'good', failed: 'bad', loading: 'plain', not_loaded: 'plain' } as const;
const LEARNED_LOOKS = { served: 'good', refused: 'bad', absent: 'plain' } as const;

interface OfferedModel {
  readonly id: string;
  /** undefined: it cannot be served, and nothing says what it would be. */
  readonly type: string | undefined;
  /** undefined: it runs at an upstream. */
  readonly local: LocalModel | undefined;
}

interface KnownModels {
  readonly offered: readonly OfferedModel[];
  readonly learned: readonly LearnedModelFigures[];
}

async function loadModels(signal: AbortSignal): Promise<KnownModels> {
  const [prices, status, learned] = await Promise.all([
    askAdmin<{ readonly data: readonly ShownPrice[] }>('/prices', { signal }),
    askAdmin<StatusFigures>('/status', { signal }),
    askAdmin<{ readonly data: readonly LearnedModelFigures[] }>('/models', { signal }),
  ]);
  const local = new Map(status.engine.models.map((model) => [model.id, model]));
  const types = new Map(prices.data.map(({ model, type }) => [model, type]));
  const ids = [...new Set([...types.keys(), ...local.keys()])];
  return {
    offered: ids.map((id) => ({ id, type: types.get(id), local: local.get(id) })),
    learned: learned.data,
  };
}

export function ModelsSection(): JSX.Element {
  const { value, error, refresh } = usePolled(loadModels, REFRESH_MS);
  const [openId, setOpenId] = useState<string>();
  const close = useCallback(() => setOpenId(undefined), []);
  const removed = (): void => {
    close();
    refresh();
  };
  return h('div', { class: 'section' }, [
    h(LearnedModelDialog, { id: openId, onClose: close, onRemoved: removed }),
    h('div', { class: 'toolbar' }, [
      h('h2', null, 'Models'),
      h('p', { class: 'soft' }, 'Of the server that answers this page'),
    ]),
    h(ErrorNotice, { error }),
    value === undefined ? null : h(OfferedTable, { models: value.offered }),
    value === undefined ? null : h(LearnedTable, { models: value.learned, onOpen: setOpenId }),
  ]);
}

const OFFERED: readonly TableColumn<OfferedModel>[] = [
  { heading: 'Model', isName: true, show: ({ id }) => id },
  { heading: 'Type', show: ({ type }) => type ?? '–' },
  { heading: 'State', show: ({ local }) => h(LocalState, { local }) },
  { heading: 'Reason', show: ({ local }) => local?.reason ?? '–' },
];

function LocalState({ local }: { readonly local: LocalModel | undefined }): JSX.Element {
  if (local === undefined) return h(Pill, { looks: 'plain' }, 'at an upstream');
  return h(Pill, { looks: LOCAL_LOOKS[local.state] }, local.state.replace('_', ' '));
}

function OfferedTable({ models }: { readonly models: readonly OfferedModel[] }): JSX.Element {
  return h(TablePanel<OfferedModel>, {
    title: 'Offered',
    caption: 'Models that this server offers, and whether they are loaded',
    columns: OFFERED,
    rows: models,
    keyOf: ({ id }) => id,
    none: 'This server offers no model.',
  });
}

interface LearnedTableProps {
  readonly models: readonly LearnedModelFigures[];
  readonly onOpen: (id: string) => void;
}

function LearnedTable({ models, onOpen }: LearnedTableProps): JSX.Element {
  const columns: readonly TableColumn<LearnedModelFigures>[] = [
    { heading: 'Model', isName: true, show: ({ id }) => id },
    {
      heading: 'Requests',
      show: ({ state }) => h(Pill, { looks: LEARNED_LOOKS[state] }, REQUESTS[state]),
    },
    { heading: 'Last learning', show: ({ job }) => (job === null ? 'not from here' : tellLearning(job)) },
    { heading: 'Rows', isNumber: true, show: ({ job }) => (job === null ? '–' : showCount(job.rows)) },
    { heading: 'When', show: ({ job }) => h(Moment, { at: job?.started_at ?? null }) },
    {
      heading: 'Details',
      show: ({ id }) =>
        h(
          'button',
          { type: 'button', class: 'button button-small', 'aria-label': `Look at ${id}`, onClick: () => onOpen(id) },
          'Look',
        ),
    },
  ];
  return h(TablePanel<LearnedModelFigures>, {
    title: 'Learned from labelled rows',
    caption: 'Models that were learned from labelled rows, or are being learned',
    columns,
    rows: models,
    keyOf: ({ id }) => id,
    none: ['None yet. Twenty labelled rows make a question better: ', h('code', null, 'umpire learn --help')],
  });
}
