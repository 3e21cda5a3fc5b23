// The address of a hub, and those of what it has. A mirror inside a company often has a path of its own
// (`https://nexus.example/repository/models`).

import { HubError } from './hub-error.ts';
import type { RepositoryCommit } from './model-files.ts';

export class HubEndpoint {
  /** Without a slash at its end. */
  readonly address: string;
  readonly #origin: string;

  /** @throws HubError */
  constructor(text: string) {
    const url = URL.parse(text);
    if (url === null || !/^https?:$/.test(url.protocol))
      throw new HubError('The address of the hub (HF_ENDPOINT) is not one of http or https.');
    if (url.username !== '' || url.password !== '')
      throw new HubError('The address of the hub (HF_ENDPOINT) holds a password. A token belongs into HF_TOKEN.');
    if (url.search !== '' || url.hash !== '')
      throw new HubError(
        'The address of the hub (HF_ENDPOINT) ends in a query. Only a path may stand behind its host.',
      );
    this.#origin = url.origin;
    this.address = url.origin + url.pathname.replace(/\/+$/, '');
  }

  /** Whether it may see the token. */
  owns(url: URL): boolean {
    return url.origin === this.#origin;
  }

  revisionUrl(repo: string, revision: string): URL {
    return new URL(`${this.address}/api/models/${repo}/revision/${encodeURIComponent(revision)}`);
  }

  treeUrl(repo: string, commit: string): URL {
    return new URL(`${this.address}/api/models/${repo}/tree/${commit}?recursive=true&expand=false`);
  }

  fileUrl({ repo, commit }: RepositoryCommit, path: string): URL {
    const quoted = path.split('/').map(encodeURIComponent).join('/');
    return new URL(`${this.address}/${repo}/resolve/${commit}/${quoted}`);
  }
}
