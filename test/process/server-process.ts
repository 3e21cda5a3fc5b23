// A server as its users run it: a child process, started by the launcher, stopped by signals. What it prints is kept.

import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { testLogs } from '../log-scan/test-logs.ts';

export const ROOT = join(import.meta.dirname, '..', '..');
export const LAUNCHER = join(ROOT, 'src', 'launch.js');
/** Shared by all tests: only the first of them has to optimise the graphs. The cache is keyed by their content. */
export const GRAPH_CACHE = join(tmpdir(), `umpire-test-graphs-${userInfo().username}`);

const SECRET_SETTING = /(KEY|DATABASE_URL)$/;

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export type Environment = Readonly<Record<string, string>>;

/** Settings of a server that somebody runs beside the tests, and what npm, vitest and a taste for colours have put there. */
const NOT_INHERITED = /^(UMPIRE_|npm_|VITEST|(NO_COLOR|FORCE_COLOR|NODE_ENV|NODE_OPTIONS|TEST|DEV|PROD)$)/;

/** The environment of a child: what whoever starts the tests has, as from a shell of its own. */
export function childEnvironment(settings: Environment): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !NOT_INHERITED.test(name));
  return { ...Object.fromEntries(inherited), ...settings };
}

function keepSecrets(settings: Environment): void {
  for (const [name, value] of Object.entries(settings)) {
    if (!SECRET_SETTING.test(name)) continue;
    testLogs.keepSecret(value);
    if (!URL.canParse(value)) continue;
    const { password } = new URL(value);
    for (const form of [password, decodeURIComponent(password)]) testLogs.keepSecret(form);
  }
}

export interface ServerPlace {
  readonly cwd?: string;
  /** So that a signal for all of it does not reach the tests. Ctrl-C on the tests does not reach it either. */
  readonly ownGroup?: boolean;
}

export class ServerProcess {
  readonly dataDir: string;
  readonly exited: Promise<Exit>;
  readonly #child: ChildProcess;
  /** Emits `news` when something was printed, and at the end. */
  readonly #news = new EventEmitter();
  #output = '';
  #hasEnded = false;

  /**
   * @param settings added to the environment; port, data folder and cache are set already
   * @param command what starts the server
   * @param place where it runs; the project's root by default
   */
  constructor(
    settings: Environment = {},
    command: readonly string[] = [process.execPath, LAUNCHER, 'serve'],
    place: ServerPlace = {},
  ) {
    this.dataDir = mkdtempSync(join(tmpdir(), 'umpire-server-'));
    const env = childEnvironment({
      UMPIRE_PORT: '0',
      UMPIRE_DATA_DIR: this.dataDir,
      UMPIRE_ENGINE_CACHE_DIR: GRAPH_CACHE,
      ...settings,
    });
    keepSecrets(settings);
    const appendToLog = this.openLog();
    const [file = '', ...args] = command;
    this.#child = spawn(file, args, {
      cwd: place.cwd ?? ROOT,
      env,
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: place.ownGroup ?? false,
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text;
        appendToLog(text);
        this.#news.emit('news');
      });
    }
    this.exited = once(this.#child, 'close').then(([code, signal]) => {
      this.#hasEnded = true;
      this.#news.emit('news');
      return { code, signal } as Exit;
    });
  }

  /** @returns what keeps its output for the scan; called once, before anything else of this class is there */
  protected openLog(): (text: string) => void {
    return testLogs.openLog();
  }

  /** undefined: it could not be started */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Everything printed so far, log and errors together. */
  get output(): string {
    return this.#output;
  }

  /** @returns the first match in the output. @throws Error when the process ends without one */
  async waitFor(pattern: RegExp): Promise<RegExpExecArray> {
    let match = pattern.exec(this.#output);
    while (match === null) {
      if (this.#hasEnded) throw new Error(`The server ended before it printed ${pattern}:\n${this.#output}`);
      await once(this.#news, 'news');
      match = pattern.exec(this.#output);
    }
    return match;
  }

  /** @returns its address, as soon as it listens. What comes after it shows that it has come whole. */
  async listening(): Promise<string> {
    return (await this.waitFor(/listens on (http:\/\/[\d.:]+)[^\d.:]/))[1] ?? '';
  }

  /** @returns its address, once the models are loaded */
  async ready(): Promise<string> {
    return (await this.waitFor(/ready {3}(http:\/\/[\d.:]+)[^\d.:]/))[1] ?? '';
  }

  initialKey(): string {
    const key = readFileSync(join(this.dataDir, 'initial-key'), 'utf8').trim();
    testLogs.keepSecret(key);
    return key;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** As a supervisor or a shell does it: to every process that the command has started. Needs a group of its own. */
  killGroup(signal: NodeJS.Signals): void {
    if (this.pid !== undefined) process.kill(-this.pid, signal);
  }

  /** Into its standard input; where that leads to a terminal, as its keyboard. */
  type(text: string): void {
    this.#child.stdin?.write(text);
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Exit> {
    this.kill(signal);
    return await this.exited;
  }

  /** As below, with everything that the command has started and left behind. */
  async disposeGroup(): Promise<void> {
    try {
      this.killGroup('SIGKILL');
    } catch {
      // Nobody of the group is left.
    }
    await this.dispose();
  }

  /** Ends it whatever it does, and removes its data. */
  async dispose(): Promise<void> {
    if (!this.#hasEnded) this.kill('SIGKILL');
    await this.exited;
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}
