// A dialog over the page. The browser keeps the focus inside, closes it on Escape and gives the focus back.

import { type ComponentChildren, h, type JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

export interface ModalProps {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children?: ComponentChildren;
}

export function Modal({ title, isOpen, onClose, children }: ModalProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    if (!isOpen) return dialog.current?.close();
    dialog.current?.showModal();
    // Otherwise the button that closes it would have the focus.
    dialog.current?.querySelector('input')?.focus();
  }, [isOpen]);
  return h(
    'dialog',
    { ref: dialog, class: 'modal', 'aria-labelledby': titleId, onClose },
    isOpen && [
      h('header', { class: 'modal-head' }, [
        h('h2', { id: titleId }, title),
        h('button', { type: 'button', class: 'icon-button', 'aria-label': 'Close', onClick: onClose }, '×'),
      ]),
      children,
    ],
  );
}
