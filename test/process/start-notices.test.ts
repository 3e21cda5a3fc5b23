// What a start says that an operator should not have to find out: who can reach the server, who can open its data folder;
// and where its first key is written, whatever lies there.

import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { testLogs } from '../log-scan/test-logs.ts';
import { ROOT, ServerProcess } from './server-process.ts';

const TINY = { UMPIRE_MODELS: join(ROOT, 'test', 'fixtures', 'tiny-embedding') };
const REACHABLE = 'other machines can reach this server: keys and texts travel unencrypted';
const OPEN = 'Every user of this machine may';

let server: ServerProcess;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'umpire-notices-'));
});

afterEach(async () => {
  await server.dispose();
  rmSync(folder, { recursive: true });
});

describe('a server on every interface', () => {
  it.each(['json', 'text'])('says so, how to call it from here, and what that means (%s)', async (format) => {
    server = new ServerProcess({ ...TINY, UMPIRE_HOST: '0.0.0.0', UMPIRE_LOG_FORMAT: format });
    const [, address = ''] = await server.waitFor(
      /ready {3}http:\/\/0\.0\.0\.0:\d+, every interface; from this machine (http:\/\/127\.0\.0\.1:\d+)/,
    );
    expect((await fetch(`${address}/readyz`)).status).toBe(200);
    expect(server.output).toContain(`listens on ${address.replace('127.0.0.1', '0.0.0.0')}, every interface`);
    expect(server.output).toContain(REACHABLE);
  });

  it('is told from one that only this machine can reach', async () => {
    server = new ServerProcess(TINY);
    expect(await server.ready()).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(server.output).not.toContain(REACHABLE);
    expect(server.output).not.toContain(OPEN);
    expect(server.output).not.toContain('every interface');
  });
});

describe.runIf(process.platform !== 'win32')('a data folder that is open to all', () => {
  it('is named at the start, with what lies open in it and the remedy', async () => {
    writeFileSync(join(folder, 'old.backup'), '');
    chmodSync(join(folder, 'old.backup'), 0o644);
    chmodSync(folder, 0o777);
    server = new ServerProcess({ ...TINY, UMPIRE_DATA_DIR: folder });
    await server.ready();
    expect(server.output).toContain(
      `${OPEN} change the data folder ${folder} (mode 0777), and so replace keys and the ledger: chmod o= ${folder}`,
    );
    expect(server.output).toContain(`${OPEN} open ${folder}/old.backup`);
    expect(server.output.split(OPEN)).toHaveLength(3);
  });

  it('is named also where others may only look', async () => {
    chmodSync(folder, 0o755);
    server = new ServerProcess({ ...TINY, UMPIRE_DATA_DIR: folder });
    await server.ready();
    expect(server.output).toContain(`${OPEN} look into the data folder ${folder} (mode 0755): chmod o= ${folder}`);
  });
});

describe.runIf(process.platform !== 'win32')('the first key', () => {
  it('is not written through a link that somebody has put in its place', async () => {
    const elsewhere = join(folder, 'elsewhere');
    writeFileSync(elsewhere, 'mine');
    chmodSync(elsewhere, 0o644);
    const dataDir = join(folder, 'data');
    const file = join(dataDir, 'initial-key');
    mkdirSync(dataDir, { mode: 0o700 });
    symlinkSync(elsewhere, file);
    server = new ServerProcess({ ...TINY, UMPIRE_DATA_DIR: dataDir });
    const address = await server.ready();
    expect(readFileSync(elsewhere, 'utf8')).toBe('mine');
    expect(statSync(elsewhere).mode & 0o777).toBe(0o644);
    expect(lstatSync(file).isFile()).toBe(true);
    expect(lstatSync(file).mode & 0o777).toBe(0o600);
    const key = readFileSync(file, 'utf8').trim();
    testLogs.keepSecret(key);
    const reply = await fetch(`${address}/ai/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    expect(reply.status).toBe(200);
  });
});
