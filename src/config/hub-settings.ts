// The settings of Hugging Face's own tools: a machine that is set up for them is set up for `umpire models pull`. They have
// their names from there, and no flag and no place in our file.

import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';

export type Variables = Readonly<Record<string, string | undefined>>;

const SECOND_MS = 1000;
const DEFAULT_TIMEOUT_SECONDS = 10;

/** By variable, for `docs/config.md`. */
export const HUB_VARIABLES: Readonly<Record<string, string>> = {
  HF_ENDPOINT: 'Address of the hub, or of a mirror; it may have a path. Default: `https://huggingface.co`.',
  HF_TOKEN: 'Token for private and gated repositories. It is sent to the hub alone.',
  HF_TOKEN_PATH: 'File with the token, where `HF_TOKEN` is not set. Default: `token` in `HF_HOME`.',
  HF_HUB_DISABLE_IMPLICIT_TOKEN: '`1`: no token is sent.',
  HF_HUB_OFFLINE: '`1`: no hub is asked. The cache and folders can be pulled from.',
  HF_HOME: "Folder of the hub's tools. Default: `~/.cache/huggingface`.",
  HF_HUB_CACHE: 'Their cache. Default: `hub` in `HF_HOME`.',
  HF_HUB_ETAG_TIMEOUT: 'Seconds until the hub has begun to answer. Default: 10.',
  HF_HUB_DOWNLOAD_TIMEOUT: 'Longest silence inside a file, in seconds. Default: 10.',
  HTTPS_PROXY:
    'Proxy on the way to the hub; `HTTP_PROXY` that for hubs without TLS, `NO_PROXY` the hosts that need none.',
};

/** @param faults gets a sentence for each setting that cannot be used; values are not quoted */
export function parseHubSettings(env: Variables, faults: string[]) {
  const home = env['HF_HOME'] || join(env['XDG_CACHE_HOME'] || '~/.cache', 'huggingface');
  const token = isOn(env['HF_HUB_DISABLE_IMPLICIT_TOKEN']) ? undefined : readToken(env, home);
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token))
    faults.push('The token of the hub (HF_TOKEN, or the file HF_TOKEN_PATH) has a character that no token has.');
  const parts = { faults, defaultSeconds: DEFAULT_TIMEOUT_SECONDS };
  return {
    endpoint: env['HF_ENDPOINT'] || 'https://huggingface.co',
    token,
    isOffline: isOn(env['HF_HUB_OFFLINE']),
    cacheFolder: expandHome(env['HF_HUB_CACHE'] || join(home, 'hub')),
    answerTimeoutMs: parseSeconds(env, 'HF_HUB_ETAG_TIMEOUT', parts),
    stallTimeoutMs: parseSeconds(env, 'HF_HUB_DOWNLOAD_TIMEOUT', parts),
    proxies: parseProxies(env),
  };
}

export function parseProxies(env: Variables) {
  return {
    http: env['http_proxy'] || env['HTTP_PROXY'] || '',
    https: env['https_proxy'] || env['HTTPS_PROXY'] || '',
    none: env['no_proxy'] || env['NO_PROXY'] || '',
  };
}

function isOn(value: string | undefined): boolean {
  return z.stringbool({ truthy: ['1', 'on', 'yes', 'true'], falsy: [] }).safeParse(value).success;
}

/** Nobody has to have one. */
function readToken(env: Variables, home: string): string | undefined {
  const given = env['HF_TOKEN']?.trim();
  if (given) return given;
  try {
    return readFileSync(expandHome(env['HF_TOKEN_PATH'] || join(home, 'token')), 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}

function expandHome(path: string): string {
  return resolve(path.replace(/^~(?=[/\\]|$)/, () => homedir()));
}

interface SecondsParts {
  readonly faults: string[];
  readonly defaultSeconds: number;
}

/** @returns milliseconds */
export function parseSeconds(env: Variables, name: string, { faults, defaultSeconds }: SecondsParts): number {
  const text = env[name]?.trim() || String(defaultSeconds);
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (seconds === 0) faults.push(`${name} in the environment: must be a number of seconds.`);
  return seconds * SECOND_MS;
}
