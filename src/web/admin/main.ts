// The operator's page: asks for a key of the scope `admin`, then shows what it may see.

import { h, type JSX, render } from 'preact';
import { callApi } from '../api/call-api.ts';
import { openKeyHolder } from '../api/key-store.ts';
import { KeyForm } from '../components/key-form.ts';
import { PageHead } from '../components/page-head.ts';

const keys = openKeyHolder('admin');

function AdminPage(): JSX.Element {
  const key = keys.key.value;
  return h('div', { class: 'page' }, [
    h(PageHead, { current: '/admin' }, key === undefined ? null : h(ForgetKey, {})),
    h('main', { class: 'page-body' }, key === undefined ? h(Welcome, {}) : h('h1', null, 'Operator')),
  ]);
}

function ForgetKey(): JSX.Element {
  return h('button', { type: 'button', class: 'button', onClick: keys.forget }, 'Forget key');
}

function Welcome(): JSX.Element {
  return h('section', { class: 'panel panel-narrow' }, [
    h('h1', null, 'Operator'),
    h('p', null, 'Requests, money, keys and prices of this server. A key with the scope admin opens it.'),
    h(KeyForm, {
      check: (key) => callApi('/admin/v1/keys?limit=1', { key }),
      onAccept: keys.keep,
      hint: h('p', { class: 'soft' }, [
        'The first key of a server is shown when it starts. Another: ',
        h('code', null, 'umpire keys create operator --scopes admin'),
      ]),
    }),
  ]);
}

const place = document.getElementById('page');
if (place !== null) render(h(AdminPage, {}), place);
