// npm run check:deploy [-- --install]
// deploy/ as others read it: the image by hadolint, compose files by dclint, scripts by shellcheck, units by systemd, the
// chart by Helm itself and the schemas of Kubernetes. Exits 1 when any of them finds something.

import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { EXAMPLES, faultsOfChart, faultsOfWrongValues } from './chart.ts';
import { isThere, ROOT, run } from './run.ts';
import { DCLINT, HADOLINT, installTools, SHELLCHECK } from './tools.ts';

const SYSTEMD = 'systemd-analyze';

let faults = 0;

function report(what: string, found: readonly string[]): void {
  process.stdout.write(
    `${found.length === 0 ? 'ok  ' : 'FAIL'} ${what}\n${found.map((fault) => `${fault}\n`).join('')}`,
  );
  faults += found.length;
}

const wordsOf = (file: string, args: readonly string[]): string[] => {
  const { isClean, words } = run(file, args);
  return isClean ? [] : [words];
};

/** systemd wants the programs that a unit starts; this one is where the unit's user will have it. */
function faultsOfUnits(): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'umpire-units-'));
  try {
    return globSync('deploy/**/*.service', { cwd: ROOT }).flatMap((unit) => {
      const file = join(folder, basename(unit).replace('@.', '@8081.'));
      const text = readFileSync(join(ROOT, unit), 'utf8');
      writeFileSync(
        file,
        text.replace(/^ExecStart=\S+/m, 'ExecStart=/bin/true').replace(/^EnvironmentFile=\//m, 'EnvironmentFile=-/'),
      );
      return wordsOf(SYSTEMD, ['verify', '--man=no', '--recursive-errors=no', file]);
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

installTools();
if (!process.argv.includes('--install')) {
  report('deploy/Dockerfile', wordsOf(HADOLINT, ['deploy/Dockerfile']));
  const composed = globSync('deploy/**/compose*.yaml', { cwd: ROOT });
  report(
    composed.join(', '),
    wordsOf(DCLINT, ['--max-warnings', '0', '--config', 'test/deploy/dclint.yaml', ...composed]),
  );
  const scripts = globSync('deploy/**/*.sh', { cwd: ROOT });
  report(scripts.join(', '), wordsOf(SHELLCHECK, scripts));
  if (isThere(SYSTEMD)) report('units of systemd', faultsOfUnits());
  else process.stdout.write(`left out: units of systemd, for there is no ${SYSTEMD} here\n`);
  for (const values of EXAMPLES) report(`chart with ${values ?? 'its own values'}`, await faultsOfChart(values));
  report('chart with wrong values', faultsOfWrongValues());
  process.exitCode = faults === 0 ? 0 : 1;
}
