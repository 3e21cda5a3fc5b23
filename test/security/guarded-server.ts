// A whole server for attacks: keys of every kind, requests as any client can send them, and the store seen past
// the server.

import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { testLogs } from '../log-scan/test-logs.ts';
import { ADMIN_KEY, Fleet } from '../money/fleet.ts';
import { type IssuedKey, issueKey } from '../money/issue-key.ts';
import { type MoneyStore, SqliteMoneyStore } from '../money/money-store.ts';
import { DECISION_MODEL } from '../money/priced-models.ts';
import type { ServerProcess } from '../process/server-process.ts';

export interface Call {
  readonly method: string;
  readonly path: string;
  readonly secret: string | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a reply is whatever the server sent; tests say what they expect
  readonly json: any;
}

export const DECISION = {
  model: DECISION_MODEL,
  state: '',
  questions: { q: { type: 'noul', instructions: 'is it?' } },
};

const TABLES: Readonly<Record<MoneyStore['name'], string>> = {
  SQLite: `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`,
  PostgreSQL: `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`,
};

export class GuardedServer {
  readonly address: string;
  readonly process: ServerProcess;
  /** May run models. */
  readonly caller: IssuedKey;
  /** May administer, and not run models. */
  readonly admin: IssuedKey;
  readonly #fleet: Fleet;
  readonly #store: MoneyStore;

  private constructor(
    parts: Pick<GuardedServer, 'address' | 'process' | 'caller' | 'admin'>,
    fleet: Fleet,
    store: MoneyStore,
  ) {
    this.address = parts.address;
    this.process = parts.process;
    this.caller = parts.caller;
    this.admin = parts.admin;
    this.#fleet = fleet;
    this.#store = store;
  }

  /** @param store which it then owns */
  static async start(store: MoneyStore = new SqliteMoneyStore()): Promise<GuardedServer> {
    const fleet = await Fleet.over(store, { settings: { UMPIRE_LOG_FORMAT: 'json' } });
    const process = await fleet.launch();
    const address = await process.ready();
    const caller = await issueKey(address);
    const admin = await issueKey(address, { scopes: ['admin'] });
    return new GuardedServer({ address, process, caller, admin }, fleet, store);
  }

  async call({ method, path, secret, body, headers = {} }: Call): Promise<Reply> {
    const reply = await fetch(this.address + path, {
      method,
      headers: {
        ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const content = await reply.text();
    const isJson = reply.headers.get('content-type')?.startsWith('application/json') ?? false;
    const json: unknown = isJson && content !== '' ? JSON.parse(content) : undefined;
    keepSecrets(json);
    return { status: reply.status, headers: reply.headers, text: content, json };
  }

  decide(secret: string, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    return this.call({ method: 'POST', path: '/ai/v1/systemone', secret, body: DECISION, headers });
  }

  administer(method: string, path: string, body?: unknown): Promise<Reply> {
    return this.call({ method, path: `/admin/v1${path}`, secret: ADMIN_KEY, body });
  }

  /** Bytes as they are, which no HTTP client would send. @returns everything that came back */
  async sendRaw(bytes: string): Promise<string> {
    const { hostname, port } = new URL(this.address);
    const socket = connect(Number(port), hostname);
    socket.write(bytes, 'latin1');
    return await text(socket.setEncoding('latin1'));
  }

  /** Rows of each table, counted past the server. */
  async countRows(): Promise<Record<string, number>> {
    const tables = await this.#store.query(TABLES[this.#store.name]);
    const counts: Record<string, number> = {};
    for (const { name } of tables) {
      const [row] = await this.#store.query(`SELECT count(*) AS rows_ FROM "${String(name)}"`);
      counts[String(name)] = Number(row?.['rows_']);
    }
    return counts;
  }

  /** Every line of the log so far, each of which must be JSON. */
  logLines(): Record<string, unknown>[] {
    const lines = this.process.output.trim().split('\n');
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  async dispose(): Promise<void> {
    await this.#fleet.dispose();
    await this.#store.dispose();
  }
}

/** A secret that a reply shows must not be in a log. */
function keepSecrets(json: unknown): void {
  if (typeof json === 'object' && json !== null && 'key' in json && String(json.key).startsWith('ump_')) {
    testLogs.keepSecret(String(json.key));
  }
}
