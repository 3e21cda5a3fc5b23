// The image of deploy/Dockerfile, built by buildah on clean roots of Debian that stand in the place of Node's own images,
// and run as a container is: on a file system that cannot be written, as the image's user, without any right. No registry
// of images is asked.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { type Environment, ROOT, ServerProcess } from '../process/server-process.ts';

const TOOLS = ['buildah', 'mmdebstrap', 'npm', 'setpriv', 'unshare'];
const SUITE = 'bookworm';
const MIRROR = 'http://deb.debian.org/debian';
/** Where the machine keeps the certificates that it trusts, should its registry have one of its own. */
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';
const MEBIBYTES = 64 * 2 ** 20;

const inspected = z.object({
  Docker: z.object({
    config: z.object({
      User: z.string(),
      WorkingDir: z.string(),
      Env: z.array(z.string()),
      Cmd: z.array(z.string()),
      Healthcheck: z.object({ Test: z.array(z.string()) }),
    }),
  }),
});
export type ImageConfig = z.infer<typeof inspected>['Docker']['config'];

/** What runs a command in an image: as `docker run --read-only --cap-drop ALL --security-opt no-new-privileges` does. */
const CONTAINER = `
root=$1; data=$2; folder=$3; user=$4; shift 4
mount --bind "$root" "$root" && mount -o remount,bind,ro "$root"
mount --bind "$data" "$root/data"
mount -t tmpfs tmpfs "$root/tmp"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
exec chroot "$root" setpriv --reuid="\${user%:*}" --regid="\${user#*:}" --clear-groups --no-new-privs --inh-caps=-all \\
  --bounding-set=-all env -i -C "$folder" "$@"`;

/** @returns why it cannot be tried here */
export function findHindrance(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'it takes root on Linux';
  const missing = TOOLS.filter((tool) => spawnSync(tool, ['--version']).error !== undefined);
  return missing.length > 0 ? `there is no ${missing.join(', ')}` : undefined;
}

export class Image {
  /** Where its files lie. */
  readonly root: string;
  readonly config: ImageConfig;
  readonly #builder: Builder;

  private constructor(builder: Builder, root: string, config: ImageConfig) {
    this.#builder = builder;
    this.root = root;
    this.config = config;
  }

  static build(): Image {
    const builder = new Builder();
    try {
      builder.layBases();
      builder.run('build', '--pull-never', '--format', 'docker', '--tag', 'umpire', ...FILE, ROOT);
      const { Docker } = inspected.parse(JSON.parse(builder.run('inspect', '--type', 'image', 'umpire')));
      const root = builder.run('mount', builder.run('from', '--pull-never', 'umpire'));
      return new Image(builder, root, Docker.config);
    } catch (error) {
      builder.remove();
      throw error;
    }
  }

  /** The words that run a command in it. @param data the folder that becomes /data */
  command(data: string, command: readonly string[], environment: Environment = {}): string[] {
    const { Env, WorkingDir, User } = this.config;
    const settings = [...Env, ...Object.entries(environment).map(([name, value]) => `${name}=${value}`)];
    const container = ['unshare', '--mount', '--propagation', 'private', 'sh', '-ec', CONTAINER, 'sh'];
    return [...container, this.root, data, WorkingDir, User, ...settings, ...command];
  }

  /** As it starts by itself. */
  serve(data: string, environment: Environment): ServerProcess {
    return new ServerProcess({}, this.command(data, this.config.Cmd, environment));
  }

  remove(): void {
    this.#builder.remove();
  }
}

const FILE = ['--file', join(ROOT, 'deploy/Dockerfile'), '--ignorefile', join(ROOT, 'deploy/Dockerfile.dockerignore')];

/** buildah with a store of its own, which is gone afterwards. */
class Builder {
  readonly #folder = mkdtempSync(join(tmpdir(), 'umpire-image-'));

  /** @returns what it printed */
  run(...words: string[]): string {
    const store = ['--root', join(this.#folder, 'store'), '--runroot', join(this.#folder, 'run')];
    return execFileSync('buildah', [...store, ...words], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: MEBIBYTES,
      env: { ...process.env, BUILDAH_ISOLATION: 'chroot' },
    }).trim();
  }

  /** Debian with Node and npm, as Node's images are; the larger one has a compiler. */
  layBases(): void {
    const tarball = join(this.#folder, 'debian.tar');
    execFileSync('mmdebstrap', ['--quiet', '--variant=minbase', '--include=ca-certificates', SUITE, tarball, MIRROR]);
    const container = this.run('from', 'scratch');
    this.run('add', container, tarball, '/');
    const manifest = createRequire(import.meta.url).resolve(`node-linux-${process.arch}/package.json`);
    this.run('copy', container, join(dirname(manifest), 'bin', 'node'), '/usr/local/bin/node');
    this.run('copy', container, npmFolder(), '/usr/local/lib/node_modules/npm');
    this.run('copy', container, CERTIFICATES, CERTIFICATES);
    this.#script(
      container,
      `ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
      groupadd --gid 1000 node && useradd --uid 1000 --gid node --create-home node
      echo 'deb ${MIRROR} ${SUITE} main' > /etc/apt/sources.list`,
    );
    this.run('config', '--env', `NODE_EXTRA_CA_CERTS=${CERTIFICATES}`, container);
    this.run('commit', '--quiet', container, 'docker.io/library/node:24-bookworm-slim');
    this.#script(
      container,
      'apt-get update -qq && apt-get install -qq -y --no-install-recommends g++ make > /dev/null',
    );
    this.run('commit', '--quiet', container, 'docker.io/library/node:24-bookworm');
  }

  remove(): void {
    try {
      this.run('umount', '--all');
      this.run('rm', '--all');
    } finally {
      rmSync(this.#folder, { recursive: true, force: true });
    }
  }

  #script(container: string, text: string): void {
    this.run('run', container, '--', 'sh', '-ec', text);
  }
}

function npmFolder(): string {
  const [program = ''] = execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).split('\n');
  return join(dirname(realpathSync(program)), '..');
}

/** For /data, as a volume is: the image's user may write it. */
export function layDataFolder(parent: string): string {
  const folder = join(parent, 'data');
  mkdirSync(folder);
  execFileSync('chown', ['1000:1000', folder]);
  return folder;
}
