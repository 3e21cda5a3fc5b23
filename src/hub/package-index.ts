// Files of packages from an index of PyPI's kind: the "simple" pages that PyPI and every mirror of it have. What a file
// must be is known beforehand; the index is only asked where it lies.

import { HubEndpoint } from './endpoint.ts';
import type { HashedFile } from './fetched-file.ts';
import { type ConnectionSettings, type HubAnswer, HubConnections } from './hub-connections.ts';
import { HubError } from './hub-error.ts';
import type { TakenFile, TakeOptions } from './model-files.ts';
import { explainRefusal } from './refused-answer.ts';
import { takeRemoteFiles } from './remote-files.ts';
import { readSmallText } from './small-text.ts';
import { Patience, type Pause, pauseForReal } from './temporary-fault.ts';

export interface IndexSettings extends Omit<ConnectionSettings, 'token'> {
  /** `https://pypi.org/simple`, or that of a mirror. */
  readonly index: string;
}

export interface PackageFile {
  /** `onnxruntime-gpu` */
  readonly package: string;
  /** `onnxruntime_gpu-1.30.0-….whl` */
  readonly file: string;
  readonly bytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
}

export interface PackageIndex {
  /** Without a slash at its end. */
  readonly address: string;
  /** Brings files into a folder, each under its name. @throws HubError; the signal's reason */
  take(files: readonly PackageFile[], options: TakeOptions): Promise<readonly TakenFile[]>;
  close(): Promise<void>;
}

const ANCHOR = /<a\s[^>]*?href\s*=\s*(?:"([^"]*)"|'([^']*)')[^>]*>/gi;

/** Opens no connection by itself. @throws HubError when the address is none */
export function openPackageIndex(
  settings: IndexSettings,
  { pause = pauseForReal }: { readonly pause?: Pause } = {},
): PackageIndex {
  const endpoint = new HubEndpoint(checkAddress(settings.index));
  const connections = new HubConnections(endpoint, { ...settings, token: undefined });
  const { address } = endpoint;
  return {
    address,
    async take(files, options) {
      const urls = new Map<string, URL>();
      const parts = { address, connections, pause, signal: options.signal };
      for (const file of files) urls.set(file.file, await findFileUrl(file, parts));
      const source = {
        address,
        urlOf: (path: string): URL => urls.get(path) ?? new URL(address),
        explain: (answer: HubAnswer, path: string) => explainIndexRefusal(answer, address, path),
      };
      return await takeRemoteFiles(files.map(toHashedFile), { source, connections, pause }, options);
    },
    close: () => connections.close(),
  };
}

function toHashedFile({ file, bytes, sha256 }: PackageFile): HashedFile {
  return { path: file, bytes, hash: { algorithm: 'sha256', hex: sha256 }, fault: undefined };
}

/** An index that asks for a password has it in its address mostly, which would end up in messages. */
function checkAddress(index: string): string {
  const url = URL.parse(index);
  const isAddress = url !== null && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '';
  if (!isAddress)
    throw new HubError('The address of the package index (--index, PIP_INDEX_URL) is none of http or https.');
  if (url.username === '' && url.password === '') return index;
  throw new HubError(
    'The address of the package index (--index, PIP_INDEX_URL) holds a password, which is not sent: fetch the file with pip, and give it by --from.',
  );
}

interface AskingParts {
  readonly address: string;
  readonly connections: HubConnections;
  readonly pause: Pause;
  readonly signal: AbortSignal | undefined;
}

async function findFileUrl(
  { package: name, file }: PackageFile,
  { address, connections, pause, signal }: AskingParts,
): Promise<URL> {
  const url = new URL(`${address}/${name}/`);
  return await new Patience({ pause, signal }).run(async () => {
    const answer = await connections.ask({ url, signal, mayLeave: true });
    if (answer.status !== 200) {
      answer.body.destroy();
      throw explainIndexRefusal(answer, address, `package ${name}`);
    }
    const page = await readSmallText(answer, { host: url.host, signal });
    const found = findLink(page, file, url);
    if (found === undefined)
      throw new HubError(`${address} has no ${file} of the package ${name}. Is it an index of PyPI's kind?`);
    return found;
  });
}

/** @param base of links that are relative */
function findLink(page: string, file: string, base: URL): URL | undefined {
  for (const [, quoted, single] of page.matchAll(ANCHOR)) {
    const url = URL.parse((quoted ?? single ?? '').replaceAll('&amp;', '&'), base.href);
    const name = url?.pathname.split('/').at(-1) ?? '';
    if (url === null || !/^https?:$/.test(url.protocol) || decode(name) !== file) continue;
    // The sum of the file, which we know.
    url.hash = '';
    return url;
  }
  return undefined;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** An index knows neither repositories nor tokens. */
function explainIndexRefusal(answer: HubAnswer, address: string, what: string): Error {
  const { status, otherHost } = answer;
  if (otherHost === undefined && status === 404) return new HubError(`${address} has no ${what} (status 404).`);
  if (otherHost === undefined && (status === 401 || status === 403))
    return new HubError(`${address} refuses ${what} (status ${status}): fetch it with pip, and give it by --from.`);
  return explainRefusal(answer, { endpoint: address, repo: 'the index', hasToken: false, what }, Date.now());
}
