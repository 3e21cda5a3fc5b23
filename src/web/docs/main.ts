// The reference: every route out of `/openapi.json`, shown by Swagger UI. The keys of the other pages are used to try them.

import { h, render } from 'preact';
import { openKeyHolder } from '../api/key-store.ts';
import { PageHead } from '../components/page-head.ts';
import { mendedParts } from './mended-parts.ts';

/** Security scheme of the document → the page that keeps such a key. */
const KEYS = [
  ['inferenceKey', 'playground'],
  ['adminKey', 'admin'],
] as const;

const prefersDark = matchMedia('(prefers-color-scheme: dark)');

/** Swagger UI has a class where we have a media query. */
function followScheme(): void {
  document.documentElement.classList.toggle('dark-mode', prefersDark.matches);
}

const head = document.getElementById('head');
if (head !== null) render(h(PageHead, { current: '/docs' }), head);
prefersDark.addEventListener('change', followScheme);
followScheme();

const ui = window.SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  validatorUrl: null,
  defaultModelsExpandDepth: -1,
  syntaxHighlight: { theme: 'nord' },
  plugins: [mendedParts],
  onComplete: () => {
    for (const [scheme, page] of KEYS) {
      const key = openKeyHolder(page).key.value;
      if (key !== undefined) ui.preauthorizeApiKey(scheme, key);
    }
  },
});
