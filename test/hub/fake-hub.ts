// A hub on this machine, with what is odd about the real one: the files of large storage come from a second origin, by
// addresses that are signed and expire; small ones by a redirect on its own; lists come in pages. It can be told to fail.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, sep } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Tree } from './model-tree.ts';

export interface FakeRepository {
  /** Its files, or a folder that they lie in. */
  readonly files: Tree | string;
  /** Without a token of the hub a private one is not found, and the files of a gated one are refused. */
  readonly access?: 'private' | 'gated';
  /** More of what the hub says of it: `cardData`, `disabled`, … */
  readonly info?: object;
}

export interface FakeHubOptions {
  readonly repositories: Readonly<Record<string, FakeRepository>>;
  /** `/repository/models`: of a mirror that shares its host. */
  readonly path?: string;
  /** Entries of one page of a list. */
  readonly pageSize?: number;
  /** Token → repositories whose conditions its account has accepted. */
  readonly tokens?: Readonly<Record<string, readonly string[]>>;
}

/** What an answer is instead of the right one. */
export interface Fault {
  /** Found in `hub GET /acme/model/resolve/…` or `files GET /…`. */
  readonly on: RegExp;
  /** How often; default: always. */
  times?: number;
  /** Instead of the whole answer. */
  readonly status?: number;
  /** Beside those of the answer; empty: without. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Instead of the file, or of what the hub says. */
  readonly body?: string | Uint8Array;
  readonly ignoresRange?: boolean;
  /** After so many bytes of the body the connection breaks. */
  readonly cutAfterBytes?: number;
  /** After so many bytes nothing comes any more. */
  readonly stallAfterBytes?: number;
  /** Called before the answer. */
  readonly before?: () => void;
}

export interface SeenRequest {
  readonly origin: 'hub' | 'files';
  /** `GET /acme/model/resolve/…` */
  readonly line: string;
  readonly headers: IncomingMessage['headers'];
  /** Of its body, handed to the connection. */
  sentBytes: number;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

const LARGE = /\.(onnx|onnx_data|safetensors|bin)$/;
const PIECE_BYTES = 16 * 1024;
const DEFAULT_PAGE = 1000;

export class FakeHub {
  readonly requests: SeenRequest[] = [];
  readonly #options: FakeHubOptions;
  readonly #hub: Server;
  readonly #files: Server;
  readonly #faults: Fault[] = [];
  /** `repo@commit` → files; commits stay when others are pushed. */
  readonly #commits = new Map<string, ReadonlyMap<string, Uint8Array>>();
  readonly #heads = new Map<string, string>();
  readonly #renamed = new Map<string, string>();
  #signature = 1;

  constructor(options: FakeHubOptions) {
    this.#options = options;
    this.#hub = createServer((request, response) => void this.#serve('hub', request, response));
    this.#files = createServer((request, response) => void this.#serve('files', request, response));
    for (const [repo, { files }] of Object.entries(options.repositories)) this.push(repo, files);
  }

  async listen(): Promise<this> {
    for (const server of [this.#hub, this.#files]) await once(server.listen(0, '127.0.0.1'), 'listening');
    return this;
  }

  get endpoint(): string {
    return `${addressOf(this.#hub)}${this.#options.path ?? ''}`;
  }

  /** @returns the commit that is `main` from now on */
  push(repo: string, files: Tree | string): string {
    const tree = typeof files === 'string' ? readTree(files) : files;
    const entries = Object.entries(tree).map(([path, content]) => [path, Buffer.from(content)] as const);
    const sums = entries.map(([path, content]) => `${path} ${blobSum(content)}`).sort();
    const commit = createHash('sha1').update(sums.join('\n')).digest('hex');
    this.#commits.set(`${repo}@${commit}`, new Map(entries));
    this.#heads.set(repo, commit);
    return commit;
  }

  rename(from: string, to: string): void {
    this.#renamed.set(from, to);
  }

  /** Addresses of files that were given out so far are refused. */
  expireAddresses(): void {
    this.#signature++;
  }

  fail(fault: Fault): void {
    this.#faults.push(fault);
  }

  /** Of bodies, by both origins, since request number `from`. */
  sentBytes(from = 0): number {
    return this.requests.slice(from).reduce((sum, { sentBytes }) => sum + sentBytes, 0);
  }

  async close(): Promise<void> {
    for (const server of [this.#hub, this.#files]) {
      server.close();
      server.closeAllConnections();
    }
  }

  async #serve(origin: SeenRequest['origin'], request: IncomingMessage, response: ServerResponse): Promise<void> {
    const line = `${request.method} ${request.url}`;
    const seen: SeenRequest = { origin, line, headers: request.headers, sentBytes: 0 };
    this.requests.push(seen);
    const fault = this.#faults.find(({ on, times }) => on.test(`${origin} ${line}`) && times !== 0);
    if (fault?.times !== undefined) fault.times--;
    fault?.before?.();
    await send(response, seen, ranged(seen, this.#faulty(seen, fault), fault?.ignoresRange ?? false), fault ?? {});
  }

  #faulty(seen: SeenRequest, fault: Fault | undefined): Answer {
    if (fault?.status !== undefined) return answer(fault.status, fault.body ?? '', fault.headers);
    const right = seen.origin === 'hub' ? this.#answerOfHub(seen) : this.#answerOfFiles(seen);
    return {
      ...right,
      headers: { ...right.headers, ...fault?.headers },
      body: fault?.body === undefined ? right.body : Buffer.from(fault.body),
    };
  }

  #answerOfHub(seen: SeenRequest): Answer {
    const url = new URL(seen.line.slice(seen.line.indexOf('/')), 'http://hub');
    const prefix = this.#options.path ?? '';
    if (!url.pathname.startsWith(prefix)) return answer(404, 'Not here');
    const path = url.pathname.slice(prefix.length);
    const [, repo = '', what = '', rest = ''] =
      /^\/(?:api\/(?:models|resolve-cache)\/)?([^/]+\/[^/]+)\/(revision|tree|resolve|cached)\/(.+)$/.exec(path) ?? [];
    const newName = this.#renamed.get(repo);
    if (newName !== undefined)
      return answer(307, '', { location: `${prefix}${path.replace(repo, newName)}${url.search}` });
    const refusal = this.#refuse(repo, what, seen.headers.authorization);
    if (refusal !== undefined) return refusal;
    const [given = '', ...parts] = rest.split('/').map(decodeURIComponent);
    const commit = given === 'main' ? this.#heads.get(repo) : given;
    const files = this.#commits.get(`${repo}@${commit}`);
    if (commit === undefined || files === undefined)
      return errorAnswer(404, 'RevisionNotFound', `Invalid rev id: ${given}`);
    if (what === 'revision') return json(this.#describe(repo, commit));
    if (what === 'tree') return this.#listPage(files, url, `${prefix}${path}`);
    return this.#answerFile({ repo, commit, path: parts.join('/'), isCached: what === 'cached' }, files);
  }

  #refuse(repo: string, what: string, authorization: string | undefined): Answer | undefined {
    const { repositories, tokens = {} } = this.#options;
    const token = authorization?.replace('Bearer ', '');
    const accepted = token === undefined ? undefined : tokens[token];
    if (token !== undefined && accepted === undefined)
      return errorAnswer(401, undefined, 'Invalid credentials in Authorization header');
    const { access } = repositories[repo] ?? {};
    const isMissing = repositories[repo] === undefined || (access === 'private' && !accepted?.includes(repo));
    if (isMissing) return errorAnswer(token === undefined ? 401 : 404, 'RepoNotFound', 'Repository not found');
    const isRefused = access === 'gated' && !/revision|tree/.test(what) && !accepted?.includes(repo);
    return isRefused
      ? errorAnswer(token === undefined ? 401 : 403, 'GatedRepo', `Access to ${repo} is restricted.`)
      : undefined;
  }

  #describe(repo: string, sha: string): object {
    const { access, info } = this.#options.repositories[repo] ?? {};
    return { id: repo, sha, private: access === 'private', gated: access === 'gated' ? 'manual' : false, ...info };
  }

  #listPage(files: ReadonlyMap<string, Uint8Array>, url: URL, path: string): Answer {
    const size = this.#options.pageSize ?? DEFAULT_PAGE;
    const folders = new Set([...files.keys()].flatMap((file) => file.split('/').slice(0, -1).slice(0, 1)));
    const entries = [
      ...[...folders].map((folder) => ({ type: 'directory', path: folder, size: 0, oid: '0'.repeat(40) })),
      ...[...files].map(([file, content]) => listed(file, content)),
    ];
    const from = Number(url.searchParams.get('cursor') ?? 0);
    const hasMore = from + size < entries.length;
    const next = `${addressOf(this.#hub)}${path}?recursive=true&expand=false&cursor=${from + size}`;
    return json(entries.slice(from, from + size), hasMore ? { link: `<${next}>; rel="next"` } : {});
  }

  #answerFile(
    { repo, commit, path, isCached }: { repo: string; commit: string; path: string; isCached: boolean },
    files: ReadonlyMap<string, Uint8Array>,
  ): Answer {
    const content = files.get(path);
    if (content === undefined) return errorAnswer(404, 'EntryNotFound', 'Entry not found');
    const headers = { 'x-repo-commit': commit };
    const quoted = path.split('/').map(encodeURIComponent).join('/');
    if (LARGE.test(path)) {
      const sum = createHash('sha256').update(content).digest('hex');
      const location = `${addressOf(this.#files)}/${repo}/${commit}/${quoted}?X-Amz-Signature=${this.#signature}`;
      const linked = { 'x-linked-etag': `"${sum}"`, 'x-linked-size': String(content.byteLength) };
      return answer(302, '', { ...headers, ...linked, location });
    }
    if (isCached) return answer(200, content, { ...headers, etag: `"${blobSum(content)}"` });
    const location = `${this.#options.path ?? ''}/api/resolve-cache/${repo}/cached/${commit}/${quoted}`;
    return answer(307, '', { ...headers, location });
  }

  #answerOfFiles({ line }: SeenRequest): Answer {
    const url = new URL(line.slice(line.indexOf('/')), 'http://files');
    const [, organisation, name, commit, ...path] = url.pathname.split('/').map(decodeURIComponent);
    const content = this.#commits.get(`${organisation}/${name}@${commit}`)?.get(path.join('/'));
    if (url.searchParams.get('X-Amz-Signature') !== String(this.#signature)) return answer(403, 'Request has expired');
    return content === undefined ? answer(404, 'No such object') : answer(200, content);
  }
}

export function startFakeHub(options: FakeHubOptions): Promise<FakeHub> {
  return new FakeHub(options).listen();
}

function addressOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function readTree(folder: string): Tree {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = names.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1));
  return Object.fromEntries(paths.map((path) => [path.split(sep).join('/'), readFileSync(join(folder, path))]));
}

/** Of a git blob. */
function blobSum(content: Uint8Array): string {
  return createHash('sha1').update(`blob ${content.byteLength}\0`).update(content).digest('hex');
}

function listed(path: string, content: Uint8Array): object {
  const size = content.byteLength;
  if (!LARGE.test(path)) return { type: 'file', path, size, oid: blobSum(content) };
  const oid = createHash('sha256').update(content).digest('hex');
  const pointer = Buffer.from(`version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${size}\n`);
  return { type: 'file', path, size, oid: blobSum(pointer), lfs: { oid, size, pointerSize: pointer.byteLength } };
}

function answer(status: number, body: string | Uint8Array, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, headers, body: Buffer.from(body) };
}

function json(data: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  return answer(200, JSON.stringify(data), { 'content-type': 'application/json', ...headers });
}

function errorAnswer(status: number, code: string | undefined, message: string): Answer {
  const named = code === undefined ? {} : { 'x-error-code': code };
  return answer(status, '', { ...named, 'x-error-message': message });
}

/** The part of a file that was asked for; packed where the client would have it so. */
function ranged({ origin, line, headers }: SeenRequest, right: Answer, ignoresRange: boolean): Answer {
  if (right.status !== 200) return right;
  if (/gzip/.test(headers['accept-encoding'] ?? ''))
    return { ...right, headers: { ...right.headers, 'content-encoding': 'gzip' }, body: gzipSync(right.body) };
  const isFile = origin === 'files' || line.includes('/resolve-cache/');
  const [, from] = /^bytes=(\d+)-$/.exec(headers.range ?? '') ?? [];
  if (!isFile || from === undefined || ignoresRange) return right;
  const { length } = right.body;
  const start = Number(from);
  if (start >= length) return answer(416, '', { 'content-range': `bytes */${length}` });
  const range = { 'content-range': `bytes ${start}-${length - 1}/${length}` };
  return { status: 206, headers: { ...range, ...right.headers }, body: right.body.subarray(start) };
}

async function send(
  response: ServerResponse,
  seen: SeenRequest,
  { status, headers, body }: Answer,
  fault: Partial<Fault>,
) {
  const { cutAfterBytes, stallAfterBytes } = fault;
  const length = { 'content-length': String(body.length) };
  const all = Object.entries({ ...length, ...headers }).filter(([, value]) => value !== '');
  response.writeHead(status, Object.fromEntries(all));
  const closed = once(response, 'close');
  const end = Math.min(cutAfterBytes ?? stallAfterBytes ?? body.length, body.length);
  for (let at = 0; at < end && !response.destroyed; ) {
    const piece = body.subarray(at, Math.min(at + PIECE_BYTES, end));
    at += piece.length;
    // Counted when the system has taken it, which is what a cut is measured by.
    await Promise.race([closed, new Promise<void>((resolve) => void response.write(piece, () => resolve()))]);
    seen.sentBytes += piece.length;
  }
  if (cutAfterBytes !== undefined) response.destroy();
  else if (stallAfterBytes === undefined) response.end();
  else response.flushHeaders();
}
