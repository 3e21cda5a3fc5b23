// A secret that was just issued. It stays until it is put away, so that no slip of a key loses it.

import { h, type JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { CopyButton } from '../components/copy-button.ts';
import { Moment } from './shown-figures.ts';
import type { WireSecret } from './wire-types.ts';

export interface SecretPanelProps {
  readonly secret: WireSecret;
  readonly onDone: () => void;
}

export function SecretPanel({ secret, onDone }: SecretPanelProps): JSX.Element {
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus(), [secret.key]);
  const { key, name, previous_secrets_expire_at: overlapEnd } = secret;
  return h('section', { class: 'panel secret', 'aria-labelledby': 'secret-title' }, [
    h('h3', { id: 'secret-title', ref: title, tabIndex: -1 }, `Secret of ${name}`),
    h('p', null, 'Copy it now: it is shown this once, and the server keeps only its hash.'),
    h('div', { class: 'secret-text' }, [
      h('code', { 'data-testid': 'secret' }, key),
      h(CopyButton, { text: key, label: 'Copy secret' }),
    ]),
    overlapEnd === undefined
      ? null
      : h('p', { class: 'soft' }, ['The secrets before work until ', h(Moment, { at: overlapEnd }), '.']),
    h('button', { type: 'button', class: 'button', onClick: onDone }, 'I have kept it'),
  ]);
}
