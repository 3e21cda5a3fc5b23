// One key: what is left of its budget and limits, its fields to change, and what can be done to it.

import { h, type JSX } from 'preact';
import { useCallback, useState } from 'preact/hooks';
import { Modal } from '../components/modal.ts';
import { ErrorNotice } from '../components/notice.ts';
import { formatDollars } from '../format/figures.ts';
import { askAdmin } from './admin-api.ts';
import { enteredText } from './form-field.ts';
import { useFormSending } from './form-sending.ts';
import { changeOf, fieldsOf, LIMIT_LABELS } from './key-fields.ts';
import { KeyFieldsForm } from './key-fields-form.ts';
import { KeyName } from './key-names.ts';
import { usePolled } from './polled.ts';
import { ShareBar } from './share-bar.ts';
import { Moment, showCount } from './shown-figures.ts';
import { SureQuestion } from './sure-question.ts';
import type { ShownStanding, WireKey, WireSecret } from './wire-types.ts';

const REFRESH_MS = 5000;
const OVERLAPS = [
  [0, 'at once'],
  [300, 'after 5 minutes'],
  [3600, 'after an hour'],
  [86_400, 'after a day'],
  [604_800, 'after a week'],
] as const;
const DEFAULT_OVERLAP_SECONDS = 3600;

export interface KeyDialogProps {
  /** undefined: closed. */
  readonly apiKey: WireKey | undefined;
  readonly onClose: () => void;
  readonly onChanged: () => void;
  readonly onRotated: (secret: WireSecret) => void;
}

export function ManageKeyDialog({ apiKey, ...actions }: KeyDialogProps): JSX.Element {
  return h(
    Modal,
    { title: apiKey?.name ?? '', isOpen: apiKey !== undefined, onClose: actions.onClose },
    apiKey === undefined ? null : h(KeyDetails, { key: apiKey.id, apiKey, ...actions }),
  );
}

type KeyDetailsProps = KeyDialogProps & { readonly apiKey: WireKey };

function KeyDetails({ apiKey, onChanged, onRotated }: KeyDetailsProps): JSX.Element {
  const [said, setSaid] = useState('');
  // What is being entered stays, whatever the list says meanwhile: sent is what differs from what was saved last.
  const [saved, setSaved] = useState(() => fieldsOf(apiKey));
  const path = `/keys/${encodeURIComponent(apiKey.id)}`;
  const isRevoked = apiKey.state === 'revoked';
  const change = async (body: object, told: string): Promise<void> => {
    await askAdmin(path, { method: 'PATCH', body });
    setSaid(told);
    onChanged();
  };
  return h('div', { class: 'dialog-details' }, [
    h('p', { class: 'soft' }, [
      h('span', { class: `pill pill-${apiKey.state}` }, apiKey.state),
      ' ',
      h('code', null, apiKey.id),
      ', made ',
      h(Moment, { at: apiKey.created_at }),
      ' by ',
      h(KeyName, { id: apiKey.created_by }),
    ]),
    h(StandingBars, { path }),
    h('p', { role: 'status', class: said === '' ? 'for-ears' : 'notice notice-good' }, said),
    isRevoked
      ? h('p', null, 'This key is revoked for good: nothing of it can be changed.')
      : [
          h('h3', null, 'Change'),
          h(KeyFieldsForm, {
            initial: saved,
            action: 'Save changes',
            onSubmit: async (fields) => {
              await change(changeOf(saved, fields), 'Saved. It counts on every server within a second.');
              setSaved(fields);
            },
          }),
          h(RotateForm, { path, onRotated }),
          h(DisableAndRevoke, { apiKey, path, change, onRevoked: onChanged }),
        ],
  ]);
}

function StandingBars({ path }: { readonly path: string }): JSX.Element {
  const load = useCallback((signal: AbortSignal) => askAdmin<ShownStanding>(`${path}/standing`, { signal }), [path]);
  const { value, error } = usePolled(load, REFRESH_MS);
  if (value === undefined) return h(ErrorNotice, { error });
  const { budget, limits } = value;
  const bars = [
    ...(budget === null
      ? []
      : [
          h(ShareBar, {
            label: 'Budget',
            used: Number(budget.amount_usd) - Number(budget.remaining_usd),
            whole: Number(budget.amount_usd),
            format: formatDollars,
          }),
        ]),
    ...LIMIT_LABELS.flatMap(([name, label]) => {
      const limit = limits[name];
      return limit === null
        ? []
        : [h(ShareBar, { label, used: limit.limit - limit.remaining, whole: limit.limit, format: showCount })];
    }),
  ];
  return h('div', { class: 'standing' }, [
    h(ErrorNotice, { error }),
    bars.length === 0 ? h('p', { class: 'soft' }, 'No budget and no limits.') : bars,
  ]);
}

interface RotateFormProps {
  readonly path: string;
  readonly onRotated: (secret: WireSecret) => void;
}

function RotateForm({ path, onRotated }: RotateFormProps): JSX.Element {
  const [overlap, setOverlap] = useState<number>(DEFAULT_OVERLAP_SECONDS);
  const { error, isSending, send } = useFormSending(async () => {
    const body = { overlap_seconds: overlap };
    onRotated(await askAdmin<WireSecret>(`${path}/rotate`, { method: 'POST', body }));
  });
  return h('form', { class: 'form', onSubmit: send }, [
    h('h3', null, 'New secret'),
    h('div', { class: 'form-row form-row-end' }, [
      h('label', { class: 'field' }, [
        h('span', { class: 'field-label' }, 'The present one ends'),
        h(
          'select',
          { value: overlap, onChange: (event: Event) => setOverlap(Number(enteredText(event))) },
          OVERLAPS.map(([seconds, label]) => h('option', { key: seconds, value: seconds }, label)),
        ),
      ]),
      h('button', { type: 'submit', class: 'button', disabled: isSending }, 'Rotate'),
    ]),
    h(ErrorNotice, { error }),
  ]);
}

interface DisableAndRevokeProps {
  readonly apiKey: WireKey;
  readonly path: string;
  readonly change: (body: object, told: string) => Promise<void>;
  readonly onRevoked: () => void;
}

function DisableAndRevoke({ apiKey, path, change, onRevoked }: DisableAndRevokeProps): JSX.Element {
  const [isSure, setIsSure] = useState(false);
  const isDisabled = apiKey.state === 'disabled';
  const toggling = useFormSending(() =>
    change({ disabled: !isDisabled }, isDisabled ? 'Enabled.' : 'Disabled: it is refused until it is enabled.'),
  );
  const revoking = useFormSending(async () => {
    await askAdmin(`${path}/revoke`, { method: 'POST' });
    onRevoked();
  });
  return h('div', { class: 'form' }, [
    h('h3', null, 'Stop'),
    h(ErrorNotice, { error: toggling.error ?? revoking.error }),
    isSure
      ? h(SureQuestion, {
          act: 'Revoke for good',
          question:
            'Revoke this key for good? Whoever uses it is refused within a second, and it cannot be taken back.',
          onAct: revoking.send,
          onKeep: () => setIsSure(false),
        })
      : h('div', { class: 'buttons' }, [
          h('button', { type: 'button', class: 'button', onClick: toggling.send }, isDisabled ? 'Enable' : 'Disable'),
          h('button', { type: 'button', class: 'button button-bad', onClick: () => setIsSure(true) }, 'Revoke…'),
        ]),
  ]);
}
