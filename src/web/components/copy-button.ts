// Copies a text, and says so to eyes and ears.

import { h, type JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

const SAID_MS = 2000;

export interface CopyButtonProps {
  readonly text: string;
  /** What is copied, where the page around does not say it. */
  readonly label?: string;
}

export function CopyButton({ text, label = 'Copy' }: CopyButtonProps): JSX.Element {
  const [said, setSaid] = useState<string>();
  useEffect(() => {
    const timer = setTimeout(() => setSaid(undefined), SAID_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async (): Promise<void> => {
    setSaid((await copyText(text)) ? 'Copied' : 'Select it and press Ctrl-C');
  };
  return h('button', { type: 'button', class: 'button button-small', onClick: () => void copy() }, [
    said ?? label,
    h('span', { class: 'for-ears', role: 'status' }, said),
  ]);
}

/** Browsers have a clipboard for pages on this machine or behind TLS only. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
