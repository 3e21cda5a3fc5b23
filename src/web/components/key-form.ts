// Asks for an API key, tries it, and says where one comes from.

import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ErrorNotice } from './notice.ts';

export interface KeyFormProps {
  /** Where a key comes from and what it must be able to do. */
  readonly hint: JSX.Element;
  /** Asks the server whether the key serves here; what it throws is shown. */
  readonly check: (key: string) => Promise<unknown>;
  readonly onAccept: (key: string, isKept: boolean) => void;
}

export function KeyForm({ hint, check, onAccept }: KeyFormProps): JSX.Element {
  const [error, setError] = useState<unknown>();
  const [isChecking, setIsChecking] = useState(false);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const fields = new FormData(event.currentTarget);
    const key = String(fields.get('key')).trim();
    setError(undefined);
    setIsChecking(true);
    try {
      await check(key);
      onAccept(key, fields.get('kept') === 'on');
    } catch (failure) {
      setError(failure);
    } finally {
      setIsChecking(false);
    }
  };
  const asSecret = { type: 'password', autocomplete: 'off', spellcheck: false, required: true } as const;
  return h('form', { class: 'key-form', onSubmit: (event: SubmitEvent) => void submit(event) }, [
    h('label', { class: 'field' }, [
      h('span', { class: 'field-label' }, 'API key'),
      h('input', { name: 'key', placeholder: 'ump_…', ...asSecret }),
    ]),
    h('label', { class: 'check' }, [
      h('input', { type: 'checkbox', name: 'kept' }),
      h('span', null, 'Keep it in this browser. Otherwise it is gone with this tab.'),
    ]),
    h(ErrorNotice, { error }),
    h('button', { type: 'submit', class: 'button button-strong', disabled: isChecking }, 'Use this key'),
    hint,
  ]);
}
