// Writes the generated pages under docs/, or with `--check` fails when one of them is not what the code says.

import { readFileSync, writeFileSync } from 'node:fs';
import { renderConfigPage } from '../config/document.ts';
import { renderCliPage } from './cli-page.ts';
import { renderErrorsPage } from './errors-page.ts';
import { renderOpenapiDocument } from './openapi-document.ts';

interface DocsPage {
  /** Relative to the repository. */
  readonly path: string;
  readonly render: () => string | Promise<string>;
}

const pages: readonly DocsPage[] = [
  { path: 'docs/cli.md', render: renderCliPage },
  { path: 'docs/config.md', render: renderConfigPage },
  { path: 'docs/errors.md', render: renderErrorsPage },
  { path: 'docs/openapi.json', render: renderOpenapiDocument },
];

const addressOf = (page: DocsPage) => new URL(`../../${page.path}`, import.meta.url);

async function write(): Promise<void> {
  for (const page of pages) writeFileSync(addressOf(page), await page.render());
}

async function findStale(): Promise<string[]> {
  const stale: string[] = [];
  for (const page of pages) if (readIfThere(page) !== (await page.render())) stale.push(page.path);
  return stale;
}

function readIfThere(page: DocsPage): string | undefined {
  try {
    return readFileSync(addressOf(page), 'utf8');
  } catch {
    return undefined;
  }
}

if (process.argv.includes('--check')) {
  const stale = await findStale();
  if (stale.length > 0) {
    console.error(`Out of date: ${stale.join(', ')}. Run \`npm run docs\`.`);
    process.exitCode = 1;
  }
} else {
  await write();
}
