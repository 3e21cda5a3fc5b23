// A Debian machine that has booted: systemd as its first process, nginx and PostgreSQL as its services, and the files of this
// checkout in /opt/umpire with `npm ci --omit=dev` done, as the guides have it. A container of podman, without a network.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { until } from '../waiting/until.ts';
import { FULL_IMAGE, ImageStore } from './image-store.ts';
import { Podman, type Typed } from './podman.ts';
import { ROOT } from './run.ts';

/** Beside those that build images. */
export const MACHINE_TOOLS = ['podman', 'runc', 'git', 'tar'];
const IMAGE = 'localhost/umpire-machine';
const PACKAGES = ['systemd', 'systemd-sysv', 'dbus', 'nginx-light', 'postgresql', 'curl', 'procps', 'util-linux'];
/** What a minimal machine does without. */
const MASKED = ['getty.target', 'systemd-logind.service', 'systemd-resolved.service', 'apt-daily.timer'];

export class Machine {
  readonly #store: ImageStore;
  readonly #podman: Podman;
  #id = '';

  private constructor(store: ImageStore) {
    this.#store = store;
    this.#podman = new Podman(store);
  }

  static async boot(): Promise<Machine> {
    const machine = new Machine(new ImageStore());
    try {
      await machine.#boot();
      return machine;
    } catch (error) {
      machine.remove();
      throw error;
    }
  }

  async #boot(): Promise<void> {
    this.#store.layBases();
    layMachine(this.#store);
    // With all rights within it, as a machine has them: units give them up.
    this.#id = this.#podman.run('run', '--detach', '--systemd=always', '--privileged', '--network=none', IMAGE);
    const hasBooted = (): boolean => /^(running|degraded)$/.test(this.type('systemctl is-system-running').printed);
    await until('the machine has booted', hasBooted, { pauseMs: 200 });
  }

  /** As root types it, ended by the first command that fails. */
  type(script: string): Typed {
    return this.#podman.try('exec', this.#id, 'bash', '-ec', script);
  }

  /** @returns what it printed. @throws Error when it fails */
  demand(script: string): string {
    const { status, printed } = this.type(script);
    if (status !== 0) throw new Error(`${script}\nended with ${status}:\n${printed}`);
    return printed;
  }

  async untilTyped(what: string, script: string): Promise<void> {
    await until(what, () => this.type(script).status === 0, { withinMs: 300_000, pauseMs: 200 });
  }

  remove(): void {
    this.#podman.remove();
    this.#store.remove();
  }
}

function layMachine(store: ImageStore): void {
  const container = store.run('from', '--pull-never', FULL_IMAGE);
  store.script(
    container,
    `export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq && apt-get install -qq -y --no-install-recommends ${PACKAGES.join(' ')} > /dev/null
    rm -f /etc/nginx/sites-enabled/default
    systemctl mask ${MASKED.join(' ')}`,
  );
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT });
  const tarball = join(store.folder, 'checkout.tar');
  execFileSync('tar', ['--create', '--file', tarball, '--null', '--files-from=-'], { cwd: ROOT, input: files });
  store.run('add', container, tarball, '/opt/umpire');
  store.script(container, 'cd /opt/umpire && npm ci --omit=dev');
  store.run('config', '--cmd', '/lib/systemd/systemd', '--workingdir', '/', container);
  store.run('commit', '--quiet', '--rm', container, IMAGE);
}
