// The sending of a form: one at a time, and what failed is kept to be shown.

import { useState } from 'preact/hooks';
import { RequestError } from '../api/call-api.ts';

export interface FormSending {
  /** undefined: nothing failed. */
  readonly error: unknown;
  /** The field that the server finds wrong, as it calls it; empty: none. */
  readonly wrong: string;
  readonly isSending: boolean;
  /** For `onSubmit`, `onClick`. */
  readonly send: (event: Event) => void;
}

export function useFormSending(action: () => Promise<unknown>): FormSending {
  const [error, setError] = useState<unknown>();
  const [isSending, setIsSending] = useState(false);
  const run = async (): Promise<void> => {
    setError(undefined);
    setIsSending(true);
    try {
      await action();
    } catch (failure) {
      setError(failure);
    } finally {
      setIsSending(false);
    }
  };
  const send = (event: Event): void => {
    event.preventDefault();
    void run();
  };
  return { error, wrong: error instanceof RequestError ? (error.param ?? '') : '', isSending, send };
}
