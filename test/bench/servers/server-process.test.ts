// Servers of the comparison as processes: ready when they answer, counted with their children, gone when stopped.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServerProcess } from '../../../bench/servers/server-process.ts';

/** Starts a child that waits, then answers 200 to everything; says so. */
const WITH_A_CHILD = `
  const child = require('node:child_process').spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: 'pipe' });
  child.once('spawn', () => require('node:http').createServer((_, reply) => reply.end()).listen(process.env.TEST_PORT, '127.0.0.1'));
`;

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'umpire-server-process-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function start(script: string): Promise<ServerProcess> {
  const launch = (port: number) => ({
    file: process.execPath,
    arguments: ['-e', script],
    settings: { TEST_PORT: String(port) },
    readyPath: '/',
  });
  return await ServerProcess.start({ launch }, folder);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe.runIf(process.platform === 'linux')('a server process', () => {
  it('counts its children, and ends with them', async () => {
    const server = await start(WITH_A_CHILD);
    const pids = server.pids();
    expect(pids).toHaveLength(2);
    expect(server.readyMs).toBeGreaterThan(0);
    expect(server.proportionalBytes()).toBeGreaterThan(1_000_000);
    await server.stop();
    expect(isRunning(pids[0] ?? 0)).toBe(false);
  });

  it('that ends before it is ready says what it printed', async () => {
    await expect(start('console.error("no model here"); process.exit(3)')).rejects.toThrow('no model here');
  });

  it('that ends in between is lost', async () => {
    const server = await start(`${WITH_A_CHILD}; process.on('SIGUSR2', () => process.exit(7));`);
    process.kill(server.pids()[0] ?? 0, 'SIGUSR2');
    await expect(server.lost).rejects.toThrow('ended in the middle of the bench: 7');
    server.kill();
  });
});
