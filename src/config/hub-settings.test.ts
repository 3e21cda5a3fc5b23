import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseHubSettings } from './hub-settings.ts';

const home = mkdtempSync(join(tmpdir(), 'umpire-hub-home-'));
afterAll(() => rmSync(home, { recursive: true }));
writeFileSync(join(home, 'token'), 'from-the-home\n');
writeFileSync(join(home, 'other-token'), 'from-elsewhere');

function parse(env: Readonly<Record<string, string>>) {
  const faults: string[] = [];
  return { ...parseHubSettings(env, faults), faults };
}

describe('the variables of the hub', () => {
  it('have the defaults of its own tools', () => {
    expect(parse({ HF_HOME: join(home, 'nothing') })).toEqual({
      endpoint: 'https://huggingface.co',
      token: undefined,
      isOffline: false,
      cacheFolder: join(home, 'nothing', 'hub'),
      answerTimeoutMs: 10_000,
      stallTimeoutMs: 10_000,
      proxies: { http: '', https: '', none: '' },
      faults: [],
    });
  });

  it('find the cache', () => {
    const cacheOf = (env: Record<string, string>) => parse({ HF_TOKEN: 'x', ...env }).cacheFolder;
    expect(cacheOf({})).toBe(join(homedir(), '.cache', 'huggingface', 'hub'));
    expect(cacheOf({ XDG_CACHE_HOME: '/var/xdg' })).toBe(resolve('/var/xdg/huggingface/hub'));
    expect(cacheOf({ XDG_CACHE_HOME: '/var/xdg', HF_HOME: '/srv/hf' })).toBe(resolve('/srv/hf/hub'));
    expect(cacheOf({ HF_HOME: '/srv/hf', HF_HUB_CACHE: '~/blobs' })).toBe(join(homedir(), 'blobs'));
  });

  it('find the token: the variable, the file that is named, the one in the home', () => {
    expect(parse({ HF_HOME: home }).token).toBe('from-the-home');
    expect(parse({ HF_HOME: home, HF_TOKEN_PATH: join(home, 'other-token') }).token).toBe('from-elsewhere');
    expect(parse({ HF_HOME: home, HF_TOKEN: ' of any form \n'.replaceAll(' ', '') }).token).toBe('ofanyform');
    expect(parse({ HF_HOME: home, HF_TOKEN: 'x', HF_HUB_DISABLE_IMPLICIT_TOKEN: '1' }).token).toBeUndefined();
    expect(parse({ HF_HOME: home, HF_TOKEN_PATH: join(home, 'nowhere') }).token).toBeUndefined();
  });

  it.each([
    ['1', true],
    ['TRUE', true],
    ['Yes', true],
    ['on', true],
    ['0', false],
    ['', false],
    ['false', false],
    ['nonsense', false],
  ])('say that one is offline: %j', (HF_HUB_OFFLINE, isOffline) => {
    expect(parse({ HF_HOME: home, HF_HUB_OFFLINE }).isOffline).toBe(isOffline);
  });

  it('have times in seconds, and proxies in either case', () => {
    const env = {
      HF_HOME: home,
      HF_HUB_ETAG_TIMEOUT: '2.5',
      HF_HUB_DOWNLOAD_TIMEOUT: '60',
      HTTPS_PROXY: 'http://big',
      https_proxy: 'http://small',
      HTTP_PROXY: 'http://big',
      NO_PROXY: 'localhost',
    };
    expect(parse(env)).toMatchObject({
      answerTimeoutMs: 2500,
      stallTimeoutMs: 60_000,
      proxies: { http: 'http://big', https: 'http://small', none: 'localhost' },
    });
  });

  it('are told when they cannot be used, without their values', () => {
    const env = { HF_HOME: home, HF_TOKEN: 'a b', HF_HUB_ETAG_TIMEOUT: 'soon', HF_HUB_DOWNLOAD_TIMEOUT: '-1' };
    expect(parse(env).faults).toEqual([
      'The token of the hub (HF_TOKEN, or the file HF_TOKEN_PATH) has a character that no token has.',
      'HF_HUB_ETAG_TIMEOUT in the environment: must be a number of seconds.',
      'HF_HUB_DOWNLOAD_TIMEOUT in the environment: must be a number of seconds.',
    ]);
  });
});
