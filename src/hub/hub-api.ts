// The two things a hub is asked before any file: which commit a revision is, and what files that commit has. From then on
// nothing that is pushed meanwhile can mix into what is taken.

import { isRecord, parsePlainJson } from '../domain/json.ts';
import type { HubEndpoint } from './endpoint.ts';
import type { HubConnections } from './hub-connections.ts';
import { HubError } from './hub-error.ts';
import type { FileHash, RepositoryFacts, RepositoryFile } from './model-files.ts';
import { explainRefusal } from './refused-answer.ts';
import { readCard } from './repository-card.ts';
import { isRepositoryName, type NamedRevision } from './repository-name.ts';
import { findNameFault, findPathFault, showPath } from './repository-path.ts';
import { readSmallText } from './small-text.ts';
import { Patience, type Pause } from './temporary-fault.ts';

export interface ApiParts {
  readonly endpoint: HubEndpoint;
  readonly connections: HubConnections;
  readonly pause: Pause;
  readonly signal: AbortSignal | undefined;
}

export interface FoundRevision {
  readonly commit: string;
  /** Its name now; one that was renamed is found by its old name too. */
  readonly repo: string;
  readonly facts: RepositoryFacts;
}

const COMMIT = /^[0-9a-f]{40}$/;
const SHA256 = /^[0-9a-f]{64}$/;
const MAX_FILES = 100_000;

/** @throws HubError */
export async function findRevision({ repo, revision }: NamedRevision, parts: ApiParts): Promise<FoundRevision> {
  const what = `the revision ${JSON.stringify(revision)}`;
  const { data } = await askForJson(parts.endpoint.revisionUrl(repo, revision), { repo, what }, parts);
  const info = isRecord(data) ? data : {};
  const { sha, id, gated } = info;
  const isAsked = !COMMIT.test(revision) || sha === revision;
  if (typeof sha !== 'string' || !COMMIT.test(sha) || !isAsked)
    throw new HubError(`${parts.endpoint.address} does not say which commit ${what} of ${repo} is.`);
  if (info['disabled'] === true) throw new HubError(`${repo} was disabled at ${parts.endpoint.address}.`);
  const facts = readCard(info['cardData']);
  return {
    commit: sha,
    repo: typeof id === 'string' && isRepositoryName(id) ? id : repo,
    facts: { ...facts, isGated: gated !== undefined && gated !== false, isPrivate: info['private'] === true },
  };
}

/** @returns by path @throws HubError when one of them means harm */
export async function listFiles(repo: string, commit: string, parts: ApiParts): Promise<RepositoryFile[]> {
  const files: RepositoryFile[] = [];
  const paths = new Set<string>();
  let next: URL | undefined = parts.endpoint.treeUrl(repo, commit);
  while (next !== undefined) {
    const page: JsonAnswer = await askForJson(next, { repo, what: `the list of files at ${commit}` }, parts);
    if (!Array.isArray(page.data)) throw new HubError(`The list of files of ${repo} is none.`);
    for (const entry of page.data) {
      for (const file of readEntry(entry, repo)) {
        // A page that comes again and again, or two contents of one file.
        if (paths.has(file.path)) throw new HubError(`The list of files of ${repo} has ${showPath(file.path)} twice.`);
        paths.add(file.path);
        files.push(file);
      }
    }
    if (files.length > MAX_FILES) throw new HubError(`${repo} has more than ${MAX_FILES} files.`);
    // A page without files that names another one could go on for ever.
    next = page.data.length === 0 ? undefined : findNextPage(page.link, parts.endpoint);
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** @returns nothing for a folder */
function readEntry(entry: unknown, repo: string): RepositoryFile[] {
  const { type, path, size, oid, lfs } = isRecord(entry) ? entry : {};
  if (type === 'directory') return [];
  if (typeof path !== 'string') throw new HubError(`The list of files of ${repo} has an entry without a path.`);
  const harm = findPathFault(path);
  if (harm !== undefined)
    throw new HubError(`${repo} has a file with the path ${showPath(path)}, which is refused: ${harm}.`);
  const stored = isRecord(lfs) ? lfs : undefined;
  const bytes = stored?.['size'] ?? size;
  if (typeof bytes !== 'number' || !Number.isSafeInteger(bytes) || bytes < 0)
    throw new HubError(`The list of files of ${repo} does not say how large ${showPath(path)} is.`);
  const hash = readHash(stored?.['oid'], oid);
  const fault = hash === undefined ? 'the hub names no sum of it' : findNameFault(path);
  return [{ path, bytes, hash, fault }];
}

/** @param stored of what lies outside git @param blob of git, which of the former is a pointer's */
function readHash(stored: unknown, blob: unknown): FileHash | undefined {
  if (stored !== undefined) {
    const hex = String(stored).replace(/^sha256:/, '');
    return SHA256.test(hex) ? { algorithm: 'sha256', hex } : undefined;
  }
  return typeof blob === 'string' && COMMIT.test(blob) ? { algorithm: 'git-sha1', hex: blob } : undefined;
}

function findNextPage(link: string | undefined, endpoint: HubEndpoint): URL | undefined {
  const [, address] = /<([^<>]*)>\s*;[^,<]*\brel="?next\b/.exec(link ?? '') ?? [];
  if (address === undefined) return undefined;
  const url = URL.parse(address, `${endpoint.address}/`);
  if (url !== null && endpoint.owns(url)) return url;
  throw new HubError(`${endpoint.address} sends to another host for the rest of its list of files.`);
}

interface JsonAnswer {
  readonly data: unknown;
  /** To further pages. */
  readonly link: string | undefined;
}

interface AskedFor {
  readonly repo: string;
  readonly what: string;
}

async function askForJson(url: URL, asked: AskedFor, parts: ApiParts): Promise<JsonAnswer> {
  const { endpoint, connections, pause, signal } = parts;
  return await new Patience({ pause, signal }).run(async () => {
    const answer = await connections.ask({ url, signal, mayLeave: false });
    if (answer.status !== 200) {
      answer.body.destroy();
      const refused = { ...asked, endpoint: endpoint.address, hasToken: connections.hasToken };
      throw explainRefusal(answer, refused, Date.now());
    }
    const text = await readSmallText(answer, { host: url.host, signal });
    try {
      return { data: parsePlainJson(text), link: answer.headers['link'] };
    } catch {
      throw new HubError(`${endpoint.address} answers with something else than JSON. Is it a hub?`);
    }
  });
}
