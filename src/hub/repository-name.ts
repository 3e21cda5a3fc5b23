// What an operator writes to name a repository and a revision of it: `organisation/name@revision`.

import { HubError } from './hub-error.ts';

export interface NamedRevision {
  /** `organisation/name`, or `name` alone for the oldest ones. */
  readonly repo: string;
  /** A branch, a tag or a commit. */
  readonly revision: string;
}

const NAME_PART = /^[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?$/;
const MAX_REVISION_LENGTH = 255;
const DEFAULT_REVISION = 'main';

/** @throws HubError */
export function parseRepository(text: string): NamedRevision {
  const at = text.indexOf('@');
  const repo = at < 0 ? text : text.slice(0, at);
  const revision = at < 0 ? DEFAULT_REVISION : text.slice(at + 1);
  if (!isRepositoryName(repo))
    throw new HubError(
      `${JSON.stringify(repo)} is not the name of a repository: organisation/name, perhaps with @revision.`,
    );
  if (!isRevision(revision)) throw new HubError(`${JSON.stringify(revision)} is not the name of a revision.`);
  return { repo, revision };
}

export function isRepositoryName(repo: string): boolean {
  const parts = repo.split('/');
  const isPlain = parts.length <= 2 && parts.every((part) => NAME_PART.test(part));
  // As the hub has it; the first of these joins the parts of a name in its cache.
  return isPlain && !repo.includes('--') && !repo.includes('..') && !repo.endsWith('.git');
}

/** What git allows, and nothing that leads out of a folder. */
function isRevision(revision: string): boolean {
  const isNamed = /^[^\p{Cc}\p{Cs}\s~^:?*[\\]+$/u.test(revision) && revision.length <= MAX_REVISION_LENGTH;
  return isNamed && revision.split('/').every((part) => part !== '' && part !== '.' && !part.includes('..'));
}
