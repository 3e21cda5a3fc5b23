// Everything that browsers get, read when the server starts and held in memory: the pages of `src/web/` and what they
// import, down to the libraries. Nothing else is ever served, because nothing else has an address.

import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { moduleReaderReady, toBrowserModule } from './module-text.ts';
import { hashOf, packWebFile, type WebFile } from './web-file.ts';

/** Address → file. */
export interface WebFiles {
  /** Asked for by people: always checked for a newer one. */
  readonly pages: ReadonlyMap<string, WebFile>;
  /** Each address holds the hash of its content, so that what is there never changes. */
  readonly assets: ReadonlyMap<string, WebFile>;
}

export const ASSETS_PREFIX = '/assets/';

/** Address of a page → its file in `src/`. */
const PAGES: Readonly<Record<string, string>> = {
  '/': 'web/playground/index.html',
  '/admin': 'web/admin/index.html',
  '/docs': 'web/docs/index.html',
};

const SOURCE = new URL('../../', import.meta.url);
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};
/** `href="../styles/base.css"`: what a page points to beside itself. */
const LINK = /(?<=\s(?:href|src)=")\.{1,2}\/[^"]+(?=")/g;

/** @throws Error where a page or a module points to what is not there: the package is not whole */
export async function readWebFiles(): Promise<WebFiles> {
  await moduleReaderReady;
  const assets = new AssetReader();
  const pages = Object.entries(PAGES).map(
    ([address, file]) => [address, assets.readPage(new URL(file, SOURCE))] as const,
  );
  const pack = async (entries: Iterable<readonly [string, string]>, typeOf: (address: string) => string) =>
    new Map(
      await Promise.all(
        Array.from(entries, async ([address, text]) => [address, await packWebFile(text, typeOf(address))] as const),
      ),
    );
  return {
    pages: await pack(pages, () => 'text/html; charset=utf-8'),
    assets: await pack(assets.texts, (address) => CONTENT_TYPES[endingOf(address)] ?? 'application/octet-stream'),
  };
}

/** Follows what pages and modules point to. */
class AssetReader {
  /** Address → what is served there. */
  readonly texts = new Map<string, string>();
  /** File → its address. A module has one once all that it imports have theirs: the hash is of its final text. */
  readonly #addresses = new Map<string, string>();

  /** With the addresses of its assets, and all modules named, so that the browser asks for them at once. */
  readPage(file: URL): string {
    const modules = new Set<string>();
    const html = readFileSync(file, 'utf8').replace(LINK, (link) => {
      const address = this.#place(locate(new URL(link, file)));
      if (address.endsWith('.js')) for (const each of this.#modulesOf(address)) modules.add(each);
      return address;
    });
    const preloads = [...modules].map((address) => `<link rel="modulepreload" href="${address}">\n`);
    return html.replace('</head>', `${preloads.join('')}</head>`);
  }

  #place(file: URL): string {
    const known = this.#addresses.get(file.href);
    if (known !== undefined) return known;
    const text = this.#read(file);
    const address = `${ASSETS_PREFIX}${hashOf(text)}/${nameOf(file)}`;
    this.#addresses.set(file.href, address);
    this.texts.set(address, text);
    return address;
  }

  #read(file: URL): string {
    const text = readFileSync(file, 'utf8');
    if (!/\.m?[jt]s$/.test(file.pathname)) return text;
    return toBrowserModule(text, file.pathname.endsWith('.ts'), (specifier) =>
      this.#place(specifier.startsWith('.') ? new URL(specifier, file) : new URL(import.meta.resolve(specifier))),
    );
  }

  /** The module and all that it imports, by their addresses in its text. */
  #modulesOf(address: string, found = new Set<string>()): Set<string> {
    found.add(address);
    const text = this.texts.get(address) ?? '';
    for (const [imported] of text.matchAll(/(?<=["'])\/assets\/[^"']+\.js(?=["'])/g))
      if (!found.has(imported)) this.#modulesOf(imported, found);
    return found;
  }
}

/** A page names its module as it is in a checkout; where the project is compiled, it ends in `.js`. */
function locate(file: URL): URL {
  return existsSync(file) ? file : new URL(file.href.replace(/\.ts$/, '.js'));
}

/** `web/playground/main.js`, `preact/dist/preact.js`: for people who read addresses. */
function nameOf(file: URL): string {
  const path = fileURLToPath(file).replaceAll('\\', '/');
  const [, inPackage] = /^.*\/node_modules\/(.*)$/.exec(path) ?? [];
  const own = relative(fileURLToPath(SOURCE), path).replaceAll('\\', '/');
  // Some proxies take `.ts` for a film, and few know `.mjs`.
  return (file.href.startsWith(SOURCE.href) ? own : (inPackage ?? own)).replace(/\.(ts|mjs)$/, '.js');
}

function endingOf(address: string): string {
  return address.slice(address.lastIndexOf('.') + 1);
}
