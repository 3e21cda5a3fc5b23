// What went wrong, said where it happened and to screen readers at once.

import { h, type JSX } from 'preact';
import { RequestError } from '../api/call-api.ts';

/** @param error what was thrown; undefined: nothing went wrong, and the place stays for what may */
export function ErrorNotice({ error }: { readonly error: unknown }): JSX.Element {
  return h('div', { role: 'alert' }, error === undefined ? null : wordFailure(error));
}

function wordFailure(error: unknown): JSX.Element {
  if (!(error instanceof RequestError)) return h('p', { class: 'notice notice-bad' }, String(error));
  const { message, code, param, requestId } = error;
  const details = [code, param && `at ${param}`, requestId && `request ${requestId}`].filter(Boolean).join(' · ');
  return h('div', { class: 'notice notice-bad' }, h('p', null, message), h('p', { class: 'notice-details' }, details));
}
