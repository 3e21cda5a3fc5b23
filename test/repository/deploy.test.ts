// What the files of deploy/ say of the server and of one another. `npm run check:deploy` reads them with the tools of others.

import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const files = globSync(['deploy/**/*', 'deploy/**/.*'], { cwd: ROOT, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) => join(parentPath, name));

const linesOf = (unit: string): Set<string> => new Set(read(unit).match(/^\w+=.*$/gm));

/** What is not the same, from either side. */
const differences = (one: Set<string>, other: Set<string>): string[] =>
  [...[...one].filter((line) => !other.has(line)), ...[...other].filter((line) => !one.has(line))].sort();

describe('deploy/', () => {
  it('sets nothing that the server does not know', () => {
    const settings = new Set(read('docs/config.md').match(/UMPIRE_[A-Z_]+/g));
    const set = files.flatMap((file) => readFileSync(file, 'utf8').match(/UMPIRE_[A-Z_]+/g) ?? []);
    expect(set.length).toBeGreaterThan(10);
    expect(set.filter((name) => !settings.has(name))).toEqual([]);
  });

  it('has the version of the server in its chart', () => {
    const { version } = z.object({ version: z.string() }).parse(JSON.parse(read('package.json')));
    expect(parse(read('deploy/helm/umpire/Chart.yaml'))).toMatchObject({ version, appVersion: version });
  });

  it('copies into the image what the repository has, and what may come in', () => {
    const sources = [...read('deploy/Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, words = '']) =>
      words.split(' '),
    );
    expect(sources.length).toBeGreaterThan(5);
    expect(sources.filter((source) => globSync(source, { cwd: ROOT }).length === 0)).toEqual([]);
    const allowed = new Set<string>(read('deploy/Dockerfile.dockerignore').match(/^!.+$/gm));
    expect(sources.filter((source) => !allowed.has(`!${source}`))).toEqual([]);
  });

  it('guards the servers of a cluster as it guards one', () => {
    const [one, several] = [linesOf('deploy/umpire.service'), linesOf('deploy/cluster/umpire@.service')];
    expect(differences(one, several)).toEqual([
      'Description=umpire on port %i',
      'Description=umpire: decisions, embeddings and chat behind one address',
      'Environment=NODE_ENV=production UMPIRE_DATA_DIR=/var/lib/umpire',
      'Environment=NODE_ENV=production UMPIRE_DATA_DIR=/var/lib/umpire/%i UMPIRE_PORT=%i',
      'EnvironmentFile=-/etc/umpire/umpire.env',
      'EnvironmentFile=/etc/umpire/umpire.env',
      'StateDirectory=umpire',
      'StateDirectory=umpire/%i',
    ]);
  });

  it('never has nginx send a second server what a first one may have done', () => {
    const site = read('deploy/cluster/umpire.conf').replaceAll(/#.*$/gm, '');
    expect(site.match(/proxy_next_upstream .*;/g)).toEqual(['proxy_next_upstream error timeout;']);
    const idle = /keepalive_timeout (\d+)s/.exec(site)?.[1];
    expect(read('deploy/cluster/roll.sh')).toContain(`IDLE_S:-${idle}}`);
  });
});
