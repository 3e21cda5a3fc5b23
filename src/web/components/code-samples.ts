// One request as programs: a tab for each language, and a button that copies what is shown.

import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { CodeSample } from '../samples/code-sample.ts';
import { CopyButton } from './copy-button.ts';
import { Tabs } from './tabs.ts';

export function CodeSamples({ samples }: { readonly samples: readonly CodeSample[] }): JSX.Element {
  const [chosen, setChosen] = useState<string>('curl');
  const tabs = samples.map(({ language, text }) => ({
    id: language,
    label: language,
    render: () =>
      h('div', { class: 'code' }, [
        h(CopyButton, { text, label: `Copy ${language}` }),
        // Focus, so that keys can scroll it.
        h('pre', { tabIndex: 0, role: 'region', 'aria-label': `The request in ${language}` }, h('code', null, text)),
      ]),
  }));
  return h(Tabs, { label: 'Languages', tabs, chosen, onChoose: setChosen, size: 'small' });
}
