// Copies the address of the page as it stands: whoever opens it sees the same document and questions, and needs a key of
// their own.

import { h, type JSX } from 'preact';
import { CopyButton } from '../components/copy-button.ts';
import { writeAddress } from './address-sync.ts';

export function ShareButton(): JSX.Element {
  return h(CopyButton, { label: 'Copy link', text: readLink });
}

async function readLink(): Promise<string> {
  const address = await writeAddress();
  if (address === undefined) throw new Error('Too long for a link');
  return address;
}
