// What administrators did: who, when, what, in pages.

import { h, type JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ErrorNotice } from '../components/notice.ts';
import { askAdmin } from './admin-api.ts';
import { DataTable, type TableColumn } from './data-table.ts';
import { KeyName } from './key-names.ts';
import { Moment } from './shown-figures.ts';
import type { WireAudit, WirePage } from './wire-types.ts';

const PAGE_RECORDS = 50;

const COLUMNS: readonly TableColumn<WireAudit>[] = [
  { heading: 'When', isName: true, show: ({ at }) => h(Moment, { at }) },
  { heading: 'Who', show: ({ actor }) => h(KeyName, { id: actor }) },
  { heading: 'Did', show: ({ action }) => h('code', null, action) },
  { heading: 'To', show: ({ target }) => h(KeyName, { id: target }) },
  { heading: 'What', show: (record) => h(AuditDetails, { record }) },
];

export function AuditSection(): JSX.Element {
  const [records, setRecords] = useState<readonly WireAudit[]>([]);
  const [cursor, setCursor] = useState<string | null>();
  const [error, setError] = useState<unknown>();
  const load = async (from: string | undefined): Promise<void> => {
    setError(undefined);
    try {
      const query = from === undefined ? '' : `&cursor=${encodeURIComponent(from)}`;
      const page = await askAdmin<WirePage<WireAudit>>(`/audit?limit=${PAGE_RECORDS}${query}`);
      setRecords((before) => (from === undefined ? page.data : [...before, ...page.data]));
      setCursor(page.next_cursor);
    } catch (failure) {
      setError(failure);
    }
  };
  useEffect(() => void load(undefined), []);
  return h('div', { class: 'section' }, [
    h('div', { class: 'toolbar' }, [
      h('h2', null, 'Audit'),
      h('button', { type: 'button', class: 'button toolbar-end', onClick: () => void load(undefined) }, 'Refresh'),
    ]),
    h(ErrorNotice, { error }),
    h(
      'div',
      { class: 'panel panel-flush' },
      h(DataTable<WireAudit>, {
        caption: 'What administrators did, the newest first',
        columns: COLUMNS,
        rows: records,
        keyOf: ({ id }) => id,
        none: cursor === undefined ? 'Loading…' : 'Nobody has made or changed a key or a price.',
      }),
    ),
    cursor === undefined || cursor === null
      ? null
      : h('button', { type: 'button', class: 'button', onClick: () => void load(cursor) }, 'Older records'),
  ]);
}

function AuditDetails({ record: { action, details } }: { readonly record: WireAudit }): JSX.Element {
  // A new thing has most of what it could have not: only a change is told where it takes something off.
  const isNew = action.endsWith('.create');
  const entries = Object.entries(details).flatMap(([name, value]) => flatten(name, value));
  const told = entries.filter(([, value]) => !(isNew && value === null));
  if (told.length === 0) return h('span', { class: 'soft' }, '–');
  return h(
    'ul',
    { class: 'details' },
    told.map(([name, value]) =>
      h('li', { key: name }, [h('span', { class: 'soft' }, `${name} `), value === null ? 'none' : String(value)]),
    ),
  );
}

/** `limits: {tokens_per_minute: 5}` → `limits.tokens_per_minute`, 5; a list as its items with commas. */
function flatten(name: string, value: unknown): (readonly [name: string, value: unknown])[] {
  if (Array.isArray(value)) return [[name, value.join(', ')]];
  if (typeof value !== 'object' || value === null) return [[name, value]];
  return Object.entries(value).flatMap(([inner, held]) => flatten(`${name}.${inner}`, held));
}
