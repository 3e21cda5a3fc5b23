// Starts the recording upstream as a process and asks it what became of it.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** What one request came to at the upstream. */
export interface UpstreamRecord {
  readonly id: string;
  /** Texts handed to the connection. */
  texts: number;
  /** Everything up to `[DONE]` was handed to the connection. */
  saidAll: boolean;
}

/** `quiet`: answered when no reply is running; `lonely`: when no connection is open. */
export interface UpstreamRequest {
  readonly id: number;
  readonly ask: 'records' | 'quiet' | 'lonely';
}

interface UpstreamMessage {
  readonly port?: number;
  readonly id?: number;
  readonly records?: readonly UpstreamRecord[];
}

export class RecordedUpstream {
  readonly baseUrl: string;
  readonly #child: ChildProcess;
  #asked = 0;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.baseUrl = `http://127.0.0.1:${port}/v1`;
    child.setMaxListeners(0);
  }

  static async start(): Promise<RecordedUpstream> {
    const child = fork(join(import.meta.dirname, 'recorded-upstream.ts'), { execArgv: [] });
    const [{ port }] = (await once(child, 'message')) as [UpstreamMessage];
    if (port === undefined) throw new Error('The upstream said something else than its port.');
    return new RecordedUpstream(child, port);
  }

  async ask(ask: UpstreamRequest['ask']): Promise<readonly UpstreamRecord[]> {
    const id = ++this.#asked;
    const answer = new Promise<readonly UpstreamRecord[]>((resolve) => {
      const look = (message: UpstreamMessage): void => {
        if (message.id !== id) return;
        this.#child.off('message', look);
        resolve(message.records ?? []);
      };
      this.#child.on('message', look);
    });
    this.#child.send({ id, ask } satisfies UpstreamRequest);
    return await answer;
  }

  async stop(): Promise<void> {
    const exited = once(this.#child, 'exit');
    this.#child.kill();
    await exited;
  }
}
