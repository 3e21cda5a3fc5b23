// Which route somebody may have meant whose path is none: a base address that is wrong, or a slip in the rest. Pure.

import { findNearest } from '../domain/near-miss.ts';

interface Route {
  readonly method: string;
  readonly url: string;
  /** Without its base: `/chat/completions`. */
  readonly tail: string;
}

/** What clients put before a path of ours: parts of our own bases and of those of other servers. */
const BASES = /^(?:\/(?:ai|api|admin|openai|inference|v\d[a-z\d]*))+(?=\/)/;
const OWN_BASE = /^\/(?:ai|admin)\/v1(?=\/)/;
const MAX_PATH_LENGTH = 128;
/** Every route for GET takes it too. */
const UNASKED = 'HEAD';

export class NearRoutes {
  readonly #routes: Route[] = [];

  note(url: string, method: string): void {
    // A path with a part that is anything is near to everything.
    if (method === UNASKED || url.includes(':')) return;
    this.#routes.push({ method, url, tail: url.replace(OWN_BASE, '') });
  }

  /** @param path without a query @returns `POST /ai/v1/systemone`: words of ours alone */
  find(path: string, method: string): string | undefined {
    if (path.length > MAX_PATH_LENGTH) return undefined;
    const isAdmin = /^\/+admin\b/i.test(path);
    const wanted = path.toLowerCase().replaceAll(/\/+/g, '/').replace(BASES, '');
    const near = findNearest(
      wanted,
      this.#routes.map(({ tail }) => tail),
    );
    const [best] = this.#routes
      .filter(({ tail }) => tail === near)
      .sort((a, b) => rank(a, { method, isAdmin }) - rank(b, { method, isAdmin }));
    return best === undefined ? undefined : `${best.method} ${best.url}`;
  }
}

/** Several routes may have the same tail: of two paths, or of two methods. */
function rank({ method, url }: Route, asked: { readonly method: string; readonly isAdmin: boolean }): number {
  return (url.startsWith('/admin/') === asked.isAdmin ? 0 : 2) + (method === asked.method ? 0 : 1);
}
