// A real PostgreSQL for a test file: started once, a fresh database per case, gone at the end even if the tests are killed.

import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Client } from 'pg';
import type { PostgresCommand, PostgresProcessOptions, PostgresReply } from './postgres-process.ts';

const PROCESS = new URL('./postgres-process.ts', import.meta.url);
const USER = 'umpire';

/** Nothing of the tests has to survive a power cut; a crash of PostgreSQL it survives all the same. */
const FAST = { fsync: 'off', full_page_writes: 'off' };

export class PostgresServer {
  readonly #child: ChildProcess;
  readonly #password: string;
  #port = 0;
  #databases = 0;
  #output = '';

  private constructor(child: ChildProcess, password: string) {
    this.#child = child;
    this.#password = password;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text;
      });
    }
  }

  /** @param settings of the server: `{ max_connections: '200' }`; `fsync` is off unless it is set here */
  static async start(settings: Readonly<Record<string, string>> = {}): Promise<PostgresServer> {
    const options: PostgresProcessOptions = {
      user: USER,
      // One that shows in a log if it is not masked, and that needs escaping in a URL.
      password: `pass/${randomBytes(8).toString('hex')}`,
      settings: { ...FAST, ...settings },
    };
    const child = fork(PROCESS, [JSON.stringify(options)], { execArgv: [], stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    const server = new PostgresServer(child, options.password);
    try {
      await server.restart();
    } catch (error) {
      await server.dispose();
      throw error;
    }
    return server;
  }

  get port(): number {
    return this.#port;
  }

  get password(): string {
    return this.#password;
  }

  urlOf(database: string): string {
    return `postgres://${USER}:${encodeURIComponent(this.#password)}@127.0.0.1:${this.#port}/${database}`;
  }

  /** An empty one. @returns its URL */
  async createDatabase(): Promise<string> {
    const name = `case_${++this.#databases}`;
    await this.query(this.urlOf('postgres'), `create database ${name} template template0`);
    return this.urlOf(name);
  }

  /** One statement on a connection of its own, past everything that is tested. */
  async query(url: string, sql: string, parameters: readonly unknown[] = []): Promise<readonly Row[]> {
    const client = await this.connect(url);
    try {
      return (await client.query<Row>(sql, [...parameters])).rows;
    } finally {
      await client.end();
    }
  }

  /** To be ended by whoever asked for it. */
  async connect(url: string): Promise<Client> {
    const client = new Client({ connectionString: url });
    // Told by the query as well.
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  /** Ends connections first, and says goodbye. What was written stays. */
  async stop(): Promise<void> {
    await this.#command('stop');
  }

  /** As by kill -9. */
  async crash(): Promise<void> {
    await this.#command('crash');
  }

  /** After `stop` or `crash`, at the same address. */
  async restart(): Promise<void> {
    const reply = await this.#command('start');
    if (reply.type === 'started') this.#port = reply.port;
  }

  /** Ends it and removes its data. */
  async dispose(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    if (this.#child.connected) this.#child.disconnect();
    await exited;
  }

  async #command(command: PostgresCommand): Promise<PostgresReply> {
    const watch = new AbortController();
    const ended = once(this.#child, 'exit', watch).then(() => {
      throw new Error(`The process of PostgreSQL ended:\n${this.#output}`);
    });
    this.#child.send(command);
    try {
      const [reply] = (await Promise.race([once(this.#child, 'message', watch), ended])) as [PostgresReply];
      if (reply.type === 'failed') throw new Error(`PostgreSQL failed to ${command}: ${reply.message}`);
      return reply;
    } finally {
      watch.abort();
      ended.catch(() => undefined);
    }
  }
}

type Row = Readonly<Record<string, unknown>>;
