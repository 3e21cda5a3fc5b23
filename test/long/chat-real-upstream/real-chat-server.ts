// Finds or starts a real server of the chat format: the one that UMPIRE_TEST_CHAT_SERVER names, or `transformers serve`
// in front of a tiny model of random weights, built here. See README.md in this folder.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface RealChatServer {
  readonly baseUrl: string;
  /** The server's own name of its model. */
  readonly model: string;
  stop(): Promise<void>;
}

const run = promisify(execFile);
const NEEDED = 'import torch, transformers, fastapi, uvicorn, openai';
const READY = /Uvicorn running on (http:\/\/[\d.:]+) /;
// Nothing may be fetched: the model is a folder.
const OFFLINE = { HF_HUB_OFFLINE: '1', HF_HUB_DISABLE_TELEMETRY: '1', TOKENIZERS_PARALLELISM: 'false' };

/** @returns undefined when there is neither an address nor a Python that can serve; `say` is told why */
export async function findRealChatServer(say: (line: string) => void): Promise<RealChatServer | undefined> {
  const { UMPIRE_TEST_CHAT_SERVER: baseUrl, UMPIRE_TEST_CHAT_MODEL: model, UMPIRE_TEST_PYTHON } = process.env;
  if (baseUrl !== undefined && model !== undefined) return { baseUrl, model, stop: async () => undefined };
  const python = UMPIRE_TEST_PYTHON ?? 'python3';
  try {
    await run(python, ['-c', NEEDED]);
  } catch {
    say(`SKIPPED: ${python} has no transformers[serving], and UMPIRE_TEST_CHAT_SERVER is not set.`);
    say('See test/long/chat-real-upstream/README.md.');
    return undefined;
  }
  return await startTransformersServe(python);
}

async function startTransformersServe(python: string): Promise<RealChatServer> {
  const folder = await mkdtemp(join(tmpdir(), 'umpire-tiny-llama-'));
  const env = { ...process.env, ...OFFLINE };
  await run(python, [join(import.meta.dirname, 'build_tiny_model.py'), folder], { env });
  const args = ['-m', 'transformers.cli.transformers', 'serve', folder, '--host', '127.0.0.1', '--port', '0'];
  const server = spawn(python, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const baseUrl = `${await untilReady(server)}/v1`;
  const stop = async () => {
    const ended = new Promise((resolve) => server.once('exit', resolve));
    if (server.exitCode === null && server.kill()) await ended;
    await rm(folder, { recursive: true, force: true });
  };
  return { baseUrl, model: folder, stop };
}

/** @returns its address */
async function untilReady(server: ChildProcess): Promise<string> {
  let log = '';
  return await new Promise((resolve, reject) => {
    // Read to the end of its life: a full pipe would stop it.
    server.stderr?.on('data', (chunk: Buffer) => {
      log += chunk.toString();
      const [, address] = READY.exec(log) ?? [];
      if (address !== undefined) resolve(address);
    });
    server.once('error', reject);
    server.once('exit', (code) => reject(new Error(`The chat server ended with ${code}:\n${log}`)));
  });
}
