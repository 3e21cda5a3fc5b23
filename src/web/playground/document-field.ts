// The document: typed, pasted, dropped as a file or chosen as one.

import { signal } from '@preact/signals';
import { h, type JSX, type TargetedEvent } from 'preact';
import { useState } from 'preact/hooks';
import { ErrorNotice } from '../components/notice.ts';
import { formatNumber } from '../format/figures.ts';
import { addNextLine, documentText, nextLines } from './decision-form.ts';

/** No model reads as much, and browsers stand still over it: 8,192 tokens are about 40 kB. */
const MAX_BYTES = 2_000_000;
const fileError = signal<unknown>();

export function DocumentField(): JSX.Element {
  const [isOver, setIsOver] = useState(false);
  const drop = (event: DragEvent): void => {
    setIsOver(false);
    const file = event.dataTransfer?.files[0];
    if (file === undefined) return;
    event.preventDefault();
    void readFile(file);
  };
  const paste = (event: ClipboardEvent): void => {
    const { length = 0 } = event.clipboardData?.getData('text/plain') ?? '';
    if (length <= MAX_BYTES) return;
    event.preventDefault();
    fileError.value = tooLarge(length);
  };
  const over = (event: DragEvent): void => {
    event.preventDefault();
    setIsOver(true);
  };
  return h('section', { class: 'panel document', 'aria-labelledby': 'document-title' }, [
    h('div', { class: 'panel-head' }, [
      h('h2', { id: 'document-title' }, h('label', { for: 'document' }, 'Document')),
      h('span', { class: 'soft' }, `${formatNumber(documentText.value.length)} characters`),
      h(FileButton, {}),
    ]),
    h('textarea', {
      id: 'document',
      class: isOver ? 'is-over' : '',
      rows: 9,
      placeholder: 'Paste a text, or drop a file here.',
      value: documentText.value,
      onInput: (event: TargetedEvent<HTMLTextAreaElement>) => {
        fileError.value = undefined;
        documentText.value = event.currentTarget.value;
      },
      onDragOver: over,
      onDragLeave: () => setIsOver(false),
      onDrop: drop,
      onPaste: paste,
    }),
    h(ErrorNotice, { error: fileError.value }),
    nextLines.value.length > 0 && h(NextLine, {}),
  ]);
}

function FileButton(): JSX.Element {
  const choose = (event: TargetedEvent<HTMLInputElement>): void => {
    const file = event.currentTarget.files?.[0];
    if (file !== undefined) void readFile(file);
    event.currentTarget.value = '';
  };
  return h('label', { class: 'button button-small file-button' }, [
    'Open a file',
    h('input', { type: 'file', class: 'for-ears', onChange: choose }),
  ]);
}

function NextLine(): JSX.Element {
  return h('div', { class: 'next-line' }, [
    h('button', { type: 'button', class: 'button', onClick: addNextLine }, 'Add the next line'),
    h('span', { class: 'soft' }, `${nextLines.value.length} to come. What was read before is kept.`),
  ]);
}

function tooLarge(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB are too much to decide about. Take the part that matters.`;
}

async function readFile(file: File): Promise<void> {
  const refuse = (reason: string): void => {
    fileError.value = `${file.name}: ${reason}`;
  };
  fileError.value = undefined;
  if (file.size > MAX_BYTES) return refuse(tooLarge(file.size));
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer());
    if (text.includes('\0')) return refuse('this is no text.');
    documentText.value = text;
    nextLines.value = [];
  } catch {
    refuse('this is no text in UTF-8.');
  }
}
