// What is asked before something is done that cannot be taken back.

import { h, type JSX } from 'preact';

export interface SureQuestionProps {
  /** On the button that does it. */
  readonly act: string;
  readonly question: string;
  readonly onAct: (event: Event) => void;
  readonly onKeep: () => void;
}

export function SureQuestion({ act, question, onAct, onKeep }: SureQuestionProps): JSX.Element {
  return h('div', { class: 'notice notice-bad form', role: 'group', 'aria-label': act }, [
    h('p', null, question),
    h('div', { class: 'buttons' }, [
      h('button', { type: 'button', class: 'button button-bad', onClick: onAct }, act),
      h('button', { type: 'button', class: 'button', onClick: onKeep }, 'Keep it'),
    ]),
  ]);
}
