// Copies a text, and says so to eyes and ears.

import { h, type JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

const SAID_MS = 2000;

export interface CopyButtonProps {
  /** What is copied, or how to get it; what that throws is said. */
  readonly text: string | (() => Promise<string>);
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
    try {
      const isCopied = await copyText(typeof text === 'string' ? text : await text());
      setSaid(isCopied ? 'Copied' : 'Your browser refuses to copy');
    } catch (error) {
      setSaid(error instanceof Error ? error.message : String(error));
    }
  };
  return h('button', { type: 'button', class: 'button button-small', onClick: () => void copy() }, [
    said ?? label,
    h('span', { class: 'for-ears', role: 'status' }, said),
  ]);
}

/** Browsers have a clipboard for pages on this machine or behind TLS only; elsewhere the old way is left. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text);
  }
}

function copySelected(text: string): boolean {
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'for-ears';
  // Inside an open dialog nothing else can be selected.
  (document.querySelector('dialog[open]') ?? document.body).append(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  return isCopied;
}
