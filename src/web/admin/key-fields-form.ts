// The form of a key, for a new one and for changes. What the server says no to is said at the button, and the field marked.

import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ErrorNotice } from '../components/notice.ts';
import { enteredText, FormField } from './form-field.ts';
import { useFormSending } from './form-sending.ts';
import { type KeyFormFields, LIMIT_LABELS } from './key-fields.ts';

export interface KeyFieldsFormProps {
  readonly initial: KeyFormFields;
  /** What the button says. */
  readonly action: string;
  /** What it throws is shown. */
  readonly onSubmit: (fields: KeyFormFields) => Promise<void>;
}

interface FieldsProps {
  readonly fields: KeyFormFields;
  readonly set: (part: Partial<KeyFormFields>) => void;
  readonly wrong: string;
}

export function KeyFieldsForm({ initial, action, onSubmit }: KeyFieldsFormProps): JSX.Element {
  const [fields, setFields] = useState(initial);
  const { error, wrong, isSending, send } = useFormSending(() => onSubmit(fields));
  const set = (part: Partial<KeyFormFields>): void => setFields({ ...fields, ...part });
  return h('form', { class: 'form', onSubmit: send }, [
    h(RightsFields, { fields, set, wrong }),
    h(BudgetFields, { fields, set, wrong }),
    h(LimitFields, { fields, set, wrong }),
    h(FormField, {
      label: 'Expires',
      hint: 'In your time zone. Empty: never.',
      type: 'datetime-local',
      value: fields.expires,
      wrong,
      param: 'expires_at',
      onInput: (expires) => set({ expires }),
    }),
    h(ErrorNotice, { error }),
    h('button', { type: 'submit', class: 'button button-strong', disabled: isSending }, action),
  ]);
}

function RightsFields({ fields, set, wrong }: FieldsProps): JSX.Element {
  const scope = (label: string, part: 'isInference' | 'isAdmin') =>
    h('label', { class: 'check' }, [
      h('input', { type: 'checkbox', checked: fields[part], onChange: () => set({ [part]: !fields[part] }) }),
      h('span', null, label),
    ]);
  return h('div', { class: 'form' }, [
    h(FormField, {
      label: 'Name',
      value: fields.name,
      isRequired: true,
      wrong,
      param: 'name',
      onInput: (name) => set({ name }),
    }),
    h('fieldset', { class: 'checks' }, [
      h('legend', { class: 'field-label' }, 'May'),
      scope('run models (inference)', 'isInference'),
      scope('administer this server (admin)', 'isAdmin'),
    ]),
    h(FormField, {
      label: 'Models',
      hint: 'One a line, * for any run of characters. Empty: all.',
      value: fields.models,
      isLong: true,
      wrong,
      param: 'models',
      onInput: (models) => set({ models }),
    }),
  ]);
}

function BudgetFields({ fields, set, wrong }: FieldsProps): JSX.Element {
  return h('div', { class: 'form-row' }, [
    h(FormField, {
      label: 'Budget in dollars',
      hint: 'Empty: none.',
      value: fields.budget,
      wrong,
      param: 'budget',
      onInput: (budget) => set({ budget }),
    }),
    h('label', { class: 'field' }, [
      h('span', { class: 'field-label' }, 'Starts anew'),
      h('select', { value: fields.reset, onChange: (event: Event) => set({ reset: readReset(enteredText(event)) }) }, [
        h('option', { value: 'month' }, 'every month'),
        h('option', { value: 'day' }, 'every day'),
        h('option', { value: 'none' }, 'never'),
      ]),
    ]),
  ]);
}

function LimitFields({ fields, set, wrong }: FieldsProps): JSX.Element {
  return h(
    'div',
    { class: 'form-row' },
    LIMIT_LABELS.map(([name, label]) =>
      h(FormField, {
        key: name,
        label,
        hint: 'Empty: no limit.',
        value: fields.limits[name],
        wrong,
        param: name,
        onInput: (text) => set({ limits: { ...fields.limits, [name]: text } }),
      }),
    ),
  );
}

function readReset(value: string): KeyFormFields['reset'] {
  return value === 'day' || value === 'month' ? value : 'none';
}
