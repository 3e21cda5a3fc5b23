// One labelled field of a form, which knows when the server finds it wrong.

import { h, type JSX } from 'preact';
import { useId } from 'preact/hooks';

export interface FormFieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly onInput: (text: string) => void;
  /** The field as the server calls it. */
  readonly param: string;
  /** The field that the server finds wrong: `limits.tokens_per_minute`; empty: none. */
  readonly wrong: string;
  readonly type?: 'datetime-local';
  readonly isRequired?: boolean;
  readonly isLong?: boolean;
  /** Id of a `<datalist>`. */
  readonly list?: string;
}

export function FormField(props: FormFieldProps): JSX.Element {
  const { label, hint, value, onInput, param, wrong, type, isRequired = false, isLong = false, list } = props;
  const id = useId();
  const isWrong = wrong.split(/[.[\]]/).includes(param);
  const marks = {
    id,
    value,
    required: isRequired,
    'aria-invalid': isWrong,
    ...(hint === undefined ? {} : { 'aria-describedby': `${id}-hint` }),
  };
  const control = isLong
    ? h('textarea', { ...marks, rows: 2, onInput: (event: Event) => onInput(enteredText(event)) })
    : h('input', {
        ...marks,
        ...(type === undefined ? {} : { type }),
        ...(list === undefined ? {} : { list }),
        autocomplete: 'off',
        onInput: (event: Event) => onInput(enteredText(event)),
      });
  return h('div', { class: 'field' }, [
    h('label', { class: 'field-label', for: id }, label),
    control,
    hint === undefined ? null : h('span', { class: 'soft', id: `${id}-hint` }, hint),
  ]);
}

/** What a field holds after one of its events. */
export function enteredText({ currentTarget }: Event): string {
  const isField = currentTarget instanceof HTMLInputElement || currentTarget instanceof HTMLTextAreaElement;
  return isField || currentTarget instanceof HTMLSelectElement ? currentTarget.value : '';
}
