// Completion as a user meets it: the scripts in the shells themselves. A shell that is not installed is skipped, and said.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runUmpire } from './run-umpire.ts';
import { childEnvironment } from './server-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'umpire-completion-'));
const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

/** Calls the function as readline does: it splits words at `=` as well. */
const ASK_BASH = `
source "$SCRIPT"
compopt() { :; }
line=\${LINE//=/ = }
read -ra COMP_WORDS <<< "$line"
[[ $line == *' ' ]] && COMP_WORDS+=('')
COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
_umpire
printf '%s\\n' "\${COMPREPLY[@]}"
`;

/** A terminal of zsh's own, in which what would be offered is printed. */
const ASK_ZSH = `
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z 'PROMPT=; autoload -U compinit; compinit -u -D; source $SCRIPT; bindkey "^I" complete-word
compadd() { local -a hits; [[ " $* " == *" -"[OAD]" "* ]] && { builtin compadd "$@"; return }; builtin compadd -A hits "$@"; print -rl -- \\<\${^hits}\\> }
comppostfuncs=(exit)
print -r "<<rea""dy>>"'
zpty -r -m z out '*<<ready>>*' || exit 1
zpty -w -n z "$LINE"$'\\t'
while zpty -r z out; do print -rn -- "$out"; done | tr -d '\\r' | sed -n 's/^.*<\\([^<>]*\\)>$/\\1/p'
`;

const ASK: Readonly<Record<Shell, string>> = {
  bash: ASK_BASH,
  zsh: ASK_ZSH,
  fish: 'source $SCRIPT; complete -C $LINE | string split -f 1 \\t',
};

function isInstalled(shell: Shell): boolean {
  return process.platform === 'linux' && spawnSync(shell, ['-c', 'exit 0']).status === 0;
}

/** @returns what is offered for the last word of the line */
function complete(shell: Shell, line: string): string[] {
  const env = childEnvironment({
    SCRIPT: join(folder, shell),
    LINE: line,
    HOME: folder,
    TERM: 'dumb',
    LANG: 'C.UTF-8',
  });
  const flags = shell === 'bash' ? ['--norc', '-c'] : shell === 'zsh' ? ['-f', '-c'] : ['--no-config', '-c'];
  const { stdout, stderr } = spawnSync(shell, [...flags, ASK[shell]], {
    cwd: folder,
    env,
    encoding: 'utf8',
    timeout: 30_000,
  });
  expect(stderr).toBe('');
  return stdout
    .split('\n')
    .filter((word) => word !== '')
    .sort();
}

beforeAll(async () => {
  writeFileSync(join(folder, 'letter.txt'), '');
  writeFileSync(join(folder, 'umpire.yaml'), '');
  const env = { UMPIRE_ALIASES: '{"jev-latest":"kev"}' };
  for (const shell of SHELLS) {
    const { code, out, error } = await runUmpire(['completion', shell], { cwd: folder, env });
    expect({ code, error }).toEqual({ code: 0, error: '' });
    writeFileSync(join(folder, shell), out);
  }
});

afterAll(() => rmSync(folder, { recursive: true }));

describe.each(SHELLS)('completion in %s', (shell) => {
  const hasShell = isInstalled(shell);
  if (!hasShell) process.stderr.write(`SKIPPED: completion in ${shell}, which is not installed here.\n`);

  it.skipIf(!hasShell).each([
    ['a command', 'umpire doc', ['doctor']],
    ['a command of a group', 'umpire keys re', ['revoke']],
    ['all commands of a group', 'umpire db ', ['backup', 'check', 'copy', 'restore']],
    ['an option', 'umpire keys create --sc', ['--scope']],
    ['a setting', 'umpire keys list --log-l', ['--log-level']],
    ['one of the words that an option takes', 'umpire keys create --scope ', ['admin', 'inference']],
    ['one of the words that a setting takes', 'umpire serve --log-format ', ['auto', 'json', 'text']],
    ['a configured model or an alias', 'umpire decide --model ', ['jev-latest', 'kev', 'text-embed-mini']],
    ['a model that is no option', 'umpire prices set t', ['text-embed-mini']],
    ['a shell', 'umpire completion z', ['zsh']],
    ['a topic of help', 'umpire help exit', ['exit-codes']],
    ['a file', 'umpire decide let', ['letter.txt']],
    ['a file of an option', 'umpire serve --config ump', ['umpire.yaml']],
    ['nothing for any text', 'umpire keys create --name ', []],
  ])('offers %s', (_, line, offered) => {
    expect(complete(shell, line)).toEqual(offered);
  });
});

it.skipIf(!isInstalled('bash'))('completion in bash offers values after an equals sign', () => {
  expect(complete('bash', 'umpire keys create --scope=a')).toEqual(['admin']);
});

it('a faulty configuration costs a shell the models, and no error at its start', async () => {
  const env = { UMPIRE_MODELS_DIR: join(folder, 'nowhere') };
  const { code, out, error } = await runUmpire(['completion', 'bash'], { cwd: folder, env });
  expect({ code, error }).toEqual({ code: 0, error: '' });
  expect(out).toContain("'decide --model') _umpire_words ''");
});

it('a shell that we do not know is answered with those that we do', async () => {
  const { code, error } = await runUmpire(['completion', 'bsh'], { cwd: folder });
  expect(code).toBe(2);
  expect(error).toContain('completion takes one shell: bash, zsh, fish. Did you mean bash?');
});
