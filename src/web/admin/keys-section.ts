// Keys: made, looked at, changed, and the new secret, which is shown until it is put away.

import { h, type JSX } from 'preact';
import { useCallback, useState } from 'preact/hooks';
import { Modal } from '../components/modal.ts';
import { ErrorNotice } from '../components/notice.ts';
import { formatDollars } from '../format/figures.ts';
import { askAdmin } from './admin-api.ts';
import { DataTable, type TableColumn } from './data-table.ts';
import { ManageKeyDialog } from './key-dialog.ts';
import { EMPTY_KEY_FIELDS, newKeyOf } from './key-fields.ts';
import { KeyFieldsForm } from './key-fields-form.ts';
import { loadKeys } from './key-names.ts';
import { usePolled } from './polled.ts';
import { SecretPanel } from './secret-panel.ts';
import { Moment, picoToDollars } from './shown-figures.ts';
import type { UsageSum, WireKey, WirePage, WireSecret } from './wire-types.ts';

const REFRESH_MS = 15_000;

interface KnownKeys {
  readonly keys: readonly WireKey[];
  /** This month, by key. */
  readonly spent: ReadonlyMap<string, number>;
}

async function loadKnownKeys(abort: AbortSignal): Promise<KnownKeys> {
  const [keys, usage] = await Promise.all([
    loadKeys(abort),
    askAdmin<WirePage<UsageSum>>('/usage?group_by=key&limit=1000', { signal: abort }),
  ]);
  return { keys, spent: new Map(usage.data.map((sum) => [sum.key ?? '', picoToDollars(sum.cost_pico_usd)])) };
}

export function KeysSection(): JSX.Element {
  const { value, error, refresh } = usePolled(loadKnownKeys, REFRESH_MS);
  const [isCreating, setIsCreating] = useState(false);
  const [openId, setOpenId] = useState<string>();
  const [secret, setSecret] = useState<WireSecret>();
  const [showsRevoked, setShowsRevoked] = useState(false);
  const close = useCallback(() => {
    setIsCreating(false);
    setOpenId(undefined);
  }, []);
  const issue = (issued: WireSecret): void => {
    setSecret(issued);
    close();
    refresh();
  };
  const all = value?.keys ?? [];
  const revoked = all.filter(({ state }) => state === 'revoked').length;
  const shown = all.filter(({ state }) => showsRevoked || state !== 'revoked').toReversed();
  return h('div', { class: 'section' }, [
    // First: a dialog that closes gives the focus back before the new secret takes it.
    h(Modal, { title: 'Create a key', isOpen: isCreating, onClose: close }, h(CreateForm, { onCreated: issue })),
    h(ManageKeyDialog, {
      apiKey: all.find(({ id }) => id === openId),
      onClose: close,
      onChanged: refresh,
      onRotated: issue,
    }),
    h('div', { class: 'toolbar' }, [
      h('h2', null, 'Keys'),
      revoked === 0
        ? null
        : h('label', { class: 'check' }, [
            h('input', { type: 'checkbox', checked: showsRevoked, onChange: () => setShowsRevoked(!showsRevoked) }),
            h('span', null, `Show ${revoked} revoked`),
          ]),
      h(
        'button',
        { type: 'button', class: 'button button-strong toolbar-end', onClick: () => setIsCreating(true) },
        'Create key',
      ),
    ]),
    secret === undefined ? null : h(SecretPanel, { secret, onDone: () => setSecret(undefined) }),
    h(ErrorNotice, { error }),
    value === undefined
      ? null
      : h(
          'div',
          { class: 'panel panel-flush' },
          h(DataTable<WireKey>, {
            caption: 'Keys, the newest first',
            columns: columnsOf(value.spent, setOpenId),
            rows: shown,
            keyOf: ({ id }) => id,
            none: 'There is no key to show. Create one for each client: it can be limited and revoked apart.',
          }),
        ),
  ]);
}

function CreateForm({ onCreated }: { readonly onCreated: (secret: WireSecret) => void }): JSX.Element {
  return h(KeyFieldsForm, {
    initial: EMPTY_KEY_FIELDS,
    action: 'Create key',
    onSubmit: async (fields) =>
      onCreated(await askAdmin<WireSecret>('/keys', { method: 'POST', body: newKeyOf(fields) })),
  });
}

function columnsOf(spent: KnownKeys['spent'], open: (id: string) => void): readonly TableColumn<WireKey>[] {
  return [
    {
      heading: 'Name',
      isName: true,
      show: ({ name, visible_prefix }) => [
        h('span', null, name),
        h('code', { class: 'key-prefix' }, `${visible_prefix}…`),
      ],
    },
    { heading: 'State', show: ({ state }) => h('span', { class: `pill pill-${state}` }, state) },
    { heading: 'May', show: ({ scopes }) => scopes.join(', ') },
    { heading: 'Models', show: ({ models }) => (models === null ? 'all' : models.join(', ') || 'none') },
    { heading: 'Budget', isNumber: true, show: showBudget },
    { heading: 'Spent this month', isNumber: true, show: ({ id }) => formatDollars(spent.get(id) ?? 0) },
    { heading: 'Last used', show: ({ last_used_at }) => h(Moment, { at: last_used_at, none: 'never' }) },
    {
      heading: 'Details',
      show: ({ id, name }) =>
        h(
          'button',
          { type: 'button', class: 'button button-small', 'aria-label': `Manage ${name}`, onClick: () => open(id) },
          'Manage',
        ),
    },
  ];
}

function showBudget({ budget }: WireKey): string {
  if (budget === null) return 'none';
  const amount = formatDollars(Number(budget.amount_usd));
  return budget.reset === 'none' ? amount : `${amount} a ${budget.reset}`;
}
