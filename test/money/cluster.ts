// Three servers behind nginx on one PostgreSQL, set up as deploy/cluster has it: its site, its list of servers, its script
// that restarts them one after the other. What systemd would do there, the supervisor here does: end one and start it anew.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { PostgresServer } from '../postgres/postgres-server.ts';
import { StallingProxy } from '../postgres/stalling-proxy.ts';
import { type Environment, type Exit, ROOT, type ServerProcess } from '../process/server-process.ts';
import { Fleet } from './fleet.ts';
import { PostgresMoneyStore } from './money-store.ts';

const DEPLOYED = join(ROOT, 'deploy', 'cluster');
/** An address of this process alone, on which every port is free. Linux has all of 127.0.0.0/8 without being asked. */
const HOST = `127.78.${(process.pid >> 8) & 255}.${process.pid & 255}`;
/** Of nginx. */
const PORT = 28_080;
/** As deploy/cluster/servers lists them, at the address above. */
const PORTS = [8081, 8082, 8083];

/** A slow machine is no fault here. */
const SETTINGS: Environment = {
  UMPIRE_HOST: HOST,
  UMPIRE_HTTP_TRUSTED_PROXIES: '127.0.0.0/8',
  UMPIRE_LEDGER_INSTANCE_TIMEOUT_MS: '15000',
  UMPIRE_DATABASE_CONNECT_TIMEOUT_MS: '20000',
  UMPIRE_DATABASE_STATEMENT_TIMEOUT_MS: '20000',
  UMPIRE_LEDGER_SETTLE_TIMEOUT_MS: '20000',
};

/** What the set-up itself runs. */
const TOOLS = ['nginx', 'curl', 'ps'];

/** One server, through all its restarts. */
interface Member {
  readonly settings: Environment;
  readonly database: StallingProxy;
  server: ServerProcess;
}

export class Cluster {
  readonly address = `http://${HOST}:${PORT}`;
  readonly store: PostgresMoneyStore;
  /** How servers ended that were restarted in order. */
  readonly exits: Exit[] = [];
  readonly #fleet: Fleet;
  readonly #members: ReadonlyMap<number, Member>;
  readonly #folder: string;
  readonly #nginx: ReturnType<typeof spawn>;
  readonly #supervisor: Server;

  private constructor(store: PostgresMoneyStore, fleet: Fleet, members: ReadonlyMap<number, Member>) {
    this.store = store;
    this.#fleet = fleet;
    this.#members = members;
    this.#folder = layFolder();
    this.#nginx = spawn('nginx', this.#nginxWords, { stdio: 'ignore' });
    this.#supervisor = createServer((request, response) => {
      this.#restart(Number(request.url?.slice(1))).then(
        () => response.end(),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
    }).listen(join(this.#folder, 'supervisor'));
  }

  /** All three ready, and nginx before them. */
  static async start(postgres: PostgresServer): Promise<Cluster> {
    const store = await PostgresMoneyStore.create(postgres);
    const fleet = await Fleet.over(store, { settings: SETTINGS });
    const members = new Map<number, Member>();
    for (const port of PORTS) {
      const database = await StallingProxy.before(postgres.port);
      const url = database.urlOf(store.settings.UMPIRE_DATABASE_URL);
      const settings = { UMPIRE_PORT: String(port), UMPIRE_DATABASE_URL: url };
      members.set(port, { settings, database, server: fleet.spawn(settings) });
    }
    const cluster = new Cluster(store, fleet, members);
    await Promise.all([...members.values()].map(({ server }) => server.ready()));
    return cluster;
  }

  get #nginxWords(): string[] {
    return ['-p', this.#folder, '-c', join(this.#folder, 'nginx.conf'), '-e', join(this.#folder, 'error.log')];
  }

  /** @param place 0, 1 or 2 */
  member(place: number): Member {
    const found = this.#members.get(PORTS[place] ?? 0);
    if (found === undefined) throw new Error(`There is no server ${place}.`);
    return found;
  }

  /** As an operator types it. @returns its exit code and what it printed */
  async roll(): Promise<{ readonly code: number; readonly printed: string }> {
    const child = spawn(join(DEPLOYED, 'roll.sh'), {
      env: {
        ...process.env,
        SERVERS: this.list,
        RELOAD: ['nginx', ...this.#nginxWords, '-s', 'reload'].join(' '),
        RESTART: join(this.#folder, 'restart'),
        NGINX_PID: join(this.#folder, 'pid'),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [printed, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
    return { code: code as number, printed };
  }

  /** What nginx has complained of so far, a line each. */
  get complaints(): string[] {
    return readFileSync(join(this.#folder, 'error.log'), 'utf8').match(/^.*\[(?:error|crit|alert|emerg)\].*$/gm) ?? [];
  }

  /** nginx's list of servers. */
  get list(): string {
    return join(this.#folder, 'umpire', 'servers');
  }

  /** As a supervisor does it when one has died. */
  async revive(place: number): Promise<void> {
    const member = this.member(place);
    await member.server.exited;
    member.server = this.#fleet.spawn(member.settings);
    await member.server.ready();
  }

  async dispose(): Promise<void> {
    const left = once(this.#nginx, 'close');
    this.#nginx.kill('SIGTERM');
    await left;
    this.#supervisor.close();
    await this.#fleet.dispose();
    await Promise.all([...this.#members.values()].map(({ database }) => database.close()));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #restart(port: number): Promise<void> {
    const member = this.#members.get(port);
    if (member === undefined) throw new Error(`Nobody listens on port ${port}.`);
    this.exits.push(await member.server.stop('SIGTERM'));
    member.server = this.#fleet.spawn(member.settings);
  }
}

/** nginx's files, as they are installed, but for the address; and the command that restarts a server. */
function layFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'umpire-cluster-'));
  // As root nginx runs its workers as somebody else, who looks there whether servers are being restarted.
  chmodSync(folder, 0o755);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  const site = readFileSync(join(DEPLOYED, 'umpire.conf'), 'utf8')
    .replace('listen 8080;', `listen ${HOST}:${PORT};`)
    .replaceAll('/etc/nginx', folder);
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; error_log ${folder}/error.log; pid ${folder}/pid; worker_processes 2; events {}
http { access_log off; ${temporary.join(' ')}
${site}}`,
  );
  mkdirSync(join(folder, 'umpire'));
  const list = readFileSync(join(DEPLOYED, 'servers'), 'utf8').replaceAll('127.0.0.1', HOST);
  writeFileSync(join(folder, 'umpire', 'servers'), list);
  const restart = join(folder, 'restart');
  writeFileSync(
    restart,
    `#!/bin/sh\nexec curl --silent --fail --unix-socket ${folder}/supervisor "http://localhost/$2"\n`,
  );
  chmodSync(restart, 0o755);
  return folder;
}

/** @returns those that are not there */
export function findMissingTools(): string[] {
  return TOOLS.filter((tool) => spawnSync(tool, ['-V']).error !== undefined);
}
