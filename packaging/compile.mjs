// What `npm pack` puts into dist/: the server and the pages, compiled apart because a browser is another machine than Node,
// and what the pages have beside their modules.

import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const COMPILER = join(dirname(fileURLToPath(import.meta.resolve('typescript/package.json'))), 'bin', 'tsc');
const TARGET = resolve(ROOT, process.argv[2] ?? 'dist');
const SERVER = ['-p', 'tsconfig.build.json', '--outDir', TARGET];
const PAGES = ['-p', 'src/web/tsconfig.build.json', '--outDir', TARGET];

for (const options of [SERVER, PAGES]) {
  const { status } = spawnSync(process.execPath, [COMPILER, ...options], { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
cpSync(join(ROOT, 'src/web'), join(TARGET, 'web'), {
  recursive: true,
  filter: (file) => !/\.(ts|json|md)$/.test(file),
});
