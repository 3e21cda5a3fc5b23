// The image of deploy/Dockerfile, built by buildah on clean roots of Debian that stand in the place of Node's own images,
// and run as a container is: on a file system that cannot be written, as the image's user, without any right.

import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type Environment, ServerProcess } from '../process/server-process.ts';
import { ImageStore } from './image-store.ts';

/** Beside those that build it. */
export const RUNNING_TOOLS = ['setpriv', 'unshare'];
const NAME = 'umpire';
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

export class Image {
  /** Where its files lie. */
  readonly root: string;
  readonly config: ImageConfig;
  readonly #store: ImageStore;

  private constructor(store: ImageStore, root: string, config: ImageConfig) {
    this.#store = store;
    this.root = root;
    this.config = config;
  }

  static build(): Image {
    const store = new ImageStore();
    try {
      store.layBases();
      store.buildImage(NAME);
      const { Docker } = inspected.parse(JSON.parse(store.run('inspect', '--type', 'image', NAME)));
      const root = store.run('mount', store.run('from', '--pull-never', NAME));
      return new Image(store, root, Docker.config);
    } catch (error) {
      store.remove();
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
    this.#store.remove();
  }
}

/** For /data, as a volume is: the image's user may write it. */
export function layDataFolder(parent: string): string {
  const folder = join(parent, 'data');
  mkdirSync(folder);
  execFileSync('chown', ['1000:1000', folder]);
  return folder;
}
