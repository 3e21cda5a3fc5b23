// The operator's page: asks for a key of the scope `admin`, then shows what it may see.

import { signal } from '@preact/signals';
import { h, type JSX, render } from 'preact';
import { useEffect } from 'preact/hooks';
import { callApi } from '../api/call-api.ts';
import { KeyForm } from '../components/key-form.ts';
import { ErrorNotice } from '../components/notice.ts';
import { PageHead } from '../components/page-head.ts';
import { Tabs } from '../components/tabs.ts';
import { adminKey, keyRefusal } from './admin-api.ts';
import { AuditSection } from './audit-section.ts';
import { FeedSection } from './feed-section.ts';
import { loadKeys } from './key-names.ts';
import { KeysSection } from './keys-section.ts';
import { ModelsSection } from './models-section.ts';
import { OverviewSection } from './overview-section.ts';
import { PricesSection } from './prices-section.ts';

const SECTIONS = [
  { id: 'overview', label: 'Overview', render: () => h(OverviewSection, {}) },
  { id: 'keys', label: 'Keys', render: () => h(KeysSection, {}) },
  { id: 'models', label: 'Models', render: () => h(ModelsSection, {}) },
  { id: 'prices', label: 'Prices', render: () => h(PricesSection, {}) },
  { id: 'requests', label: 'Live requests', render: () => h(FeedSection, {}) },
  { id: 'audit', label: 'Audit', render: () => h(AuditSection, {}) },
];

const sectionOfAddress = (): string => location.hash.slice(1);
const chosen = signal(sectionOfAddress());
addEventListener('hashchange', () => {
  chosen.value = sectionOfAddress();
});

function AdminPage(): JSX.Element {
  const key = adminKey.key.value;
  return h('div', { class: 'page' }, [
    h(PageHead, { current: '/admin' }, key === undefined ? null : h(ForgetKey, {})),
    h('main', { class: 'page-body' }, key === undefined ? h(Welcome, {}) : h(Sections, { key })),
  ]);
}

function ForgetKey(): JSX.Element {
  return h('button', { type: 'button', class: 'button button-small', onClick: adminKey.forget }, 'Forget key');
}

function Sections(): JSX.Element {
  useEffect(() => {
    // What fails here fails in the section too, which says so.
    loadKeys().catch(() => undefined);
  }, []);
  const choose = (id: string): void => {
    location.hash = id;
  };
  return h('div', null, [
    h('h1', { class: 'for-ears' }, 'Operator'),
    h(Tabs, { label: 'Sections', tabs: SECTIONS, chosen: chosen.value, onChoose: choose }),
  ]);
}

function Welcome(): JSX.Element {
  return h('section', { class: 'panel panel-narrow' }, [
    h('h1', null, 'Operator'),
    h('p', null, 'Requests, money, keys, models and prices of this server. A key with the scope admin opens it.'),
    keyRefusal.value === undefined
      ? null
      : h('div', null, [
          h('p', null, 'The key that was in use is not taken any more. Enter another one.'),
          h(ErrorNotice, { error: keyRefusal.value }),
        ]),
    h(KeyForm, {
      check: (key) => callApi('/admin/v1/keys?limit=1', { key }),
      onAccept: (key, isKept) => {
        keyRefusal.value = undefined;
        adminKey.keep(key, isKept);
      },
      hint: h('p', { class: 'soft' }, [
        'The first key of a server is shown when it starts. Another: ',
        h('code', null, 'umpire keys create --name operator --scope admin'),
      ]),
    }),
  ]);
}

const place = document.getElementById('page');
if (place !== null) render(h(AdminPage, {}), place);
