// A store of images of the test's own, and what lays Debian's roots in it that stand in the place of Node's images: no registry
// of images is asked. What builds on it, buildah, and what runs containers from it, podman, share it.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT } from './run.ts';

const SUITE = 'bookworm';
const MIRROR = 'http://deb.debian.org/debian';
/** Where the machine keeps the certificates that it trusts, should its registry have one of its own. */
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';
const MEBIBYTES = 64 * 2 ** 20;

const TOOLS = ['buildah', 'mmdebstrap', 'npm'];
const SLIM_IMAGE = 'docker.io/library/node:24-bookworm-slim';
/** The larger one, with a compiler. */
export const FULL_IMAGE = 'docker.io/library/node:24-bookworm';

const DOCKERFILE = ['--file', join(ROOT, 'deploy/Dockerfile')];
const IGNORED = ['--ignorefile', join(ROOT, 'deploy/Dockerfile.dockerignore')];

/** @param more programs that are needed @returns why no image can be built here */
export function findImageHindrance(...more: readonly string[]): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'it takes root on Linux';
  const missing = [...TOOLS, ...more].filter((tool) => spawnSync(tool, ['--version']).error !== undefined);
  return missing.length > 0 ? `there is no ${missing.join(', ')}` : undefined;
}

/** buildah with a store of its own, which is gone afterwards. */
export class ImageStore {
  readonly folder = mkdtempSync(join(tmpdir(), 'umpire-image-'));

  /** What tells buildah and podman of it. */
  get words(): string[] {
    return ['--root', join(this.folder, 'store'), '--runroot', join(this.folder, 'run')];
  }

  /** @returns what buildah printed */
  run(...words: string[]): string {
    return execFileSync('buildah', [...this.words, ...words], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: MEBIBYTES,
      env: { ...process.env, BUILDAH_ISOLATION: 'chroot' },
    }).trim();
  }

  /** Debian with Node and npm, as Node's images are; the larger one has a compiler. */
  layBases(): void {
    const tarball = join(this.folder, 'debian.tar');
    execFileSync('mmdebstrap', ['--quiet', '--variant=minbase', '--include=ca-certificates', SUITE, tarball, MIRROR]);
    const container = this.run('from', 'scratch');
    this.run('add', container, tarball, '/');
    const manifest = createRequire(import.meta.url).resolve(`node-linux-${process.arch}/package.json`);
    this.run('copy', container, join(dirname(manifest), 'bin', 'node'), '/usr/local/bin/node');
    this.run('copy', container, npmFolder(), '/usr/local/lib/node_modules/npm');
    this.run('copy', container, CERTIFICATES, CERTIFICATES);
    this.script(
      container,
      `ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
      groupadd --gid 1000 node && useradd --uid 1000 --gid node --create-home node
      echo 'deb ${MIRROR} ${SUITE} main' > /etc/apt/sources.list`,
    );
    this.run('config', '--env', `NODE_EXTRA_CA_CERTS=${CERTIFICATES}`, container);
    this.run('commit', '--quiet', container, SLIM_IMAGE);
    this.script(container, 'apt-get update -qq && apt-get install -qq -y --no-install-recommends g++ make > /dev/null');
    this.run('commit', '--quiet', container, FULL_IMAGE);
  }

  /** From deploy/Dockerfile, on the bases. @param target a stage of it */
  buildImage(name: string, target = 'cpu'): void {
    const words = ['--layers', '--pull-never', '--format', 'docker', '--target', target, '--tag', name];
    this.run('build', ...words, ...DOCKERFILE, ...IGNORED, ROOT);
  }

  remove(): void {
    try {
      this.run('umount', '--all');
      this.run('rm', '--all');
    } finally {
      rmSync(this.folder, { recursive: true, force: true });
    }
  }

  /** Runs it in the container, as its root. */
  script(container: string, text: string): void {
    this.run('run', container, '--', 'sh', '-ec', text);
  }
}

function npmFolder(): string {
  const [program = ''] = execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).split('\n');
  return join(dirname(realpathSync(program)), '..');
}
