// What help says, and how it fits the terminal.

import { describe, expect, it } from 'vitest';
import { program } from '../../test/cli/program-double.ts';
import { COMMAND_GROUPS, type CommandGroup } from './command-groups.ts';
import { EXIT_CODES } from './exit-codes.ts';
import { COMMANDS, runCommand } from './run-command.ts';

describe('help', () => {
  it.each([[[]], [['help']], [['--help']], [['-h']]])('for %o lists the commands', async (args) => {
    const { whole, said } = program();
    expect(await runCommand(args, whole)).toBe(0);
    expect(said.out).toContain('keys create');
  });

  it.each([
    [['keys', '--help']],
    [['keys', '-h']],
    [['keys', 'help']],
    [['help', 'keys']],
    [['keys', 'nonsense', '--help']],
  ])('for %o lists the commands of the group', async (args) => {
    const { whole, said } = program();
    expect(await runCommand(args, whole)).toBe(0);
    expect(said.error).toBe('');
    expect(said.out).toContain('Usage: umpire keys <command> [options]');
    for (const name of ['create', 'list', 'show', 'update', 'rotate', 'disable', 'enable', 'revoke'])
      expect(said.out).toMatch(new RegExp(`^  keys ${name} `, 'm'));
    expect(said.out).not.toContain('prices');
  });

  it('follows the word help too', async () => {
    const { whole, said } = program();
    expect(await runCommand(['help', 'keys', 'create'], whole)).toBe(0);
    expect(said.out).toContain('Usage: umpire keys create');
  });

  it.each(COMMANDS.map((command) => [command.name, command] as const))(
    'of %s has examples, each of this command',
    async (name, { examples }) => {
      const { whole, said } = program();
      expect(await runCommand([...name.split(' '), '--help'], whole)).toBe(0);
      expect(examples.length).toBeGreaterThan(0);
      for (const { command } of examples) {
        expect(command).toContain(`umpire ${name}`);
        expect(said.out).toContain(command.split('\n')[0]);
      }
    },
  );

  it('puts every command under the heading of its group', async () => {
    const { whole, said } = program();
    await runCommand(['--help'], whole);
    for (const group of Object.keys(COMMAND_GROUPS) as CommandGroup[]) {
      const [, after = ''] = said.out.split(`\n${COMMAND_GROUPS[group]}:\n`);
      const [listed = ''] = after.split('\n\n');
      const names = COMMANDS.filter((command) => command.group === group).map(({ name }) => name);
      expect(listed.split('\n').flatMap((line) => /^ {2}(\S.*?) {2}/.exec(line)?.[1] ?? [])).toEqual(names);
    }
  });

  it('fits a narrow terminal, but for what is pasted', async () => {
    const { whole, said } = program({ columns: 60 });
    await runCommand(['keys', 'create', '--help'], whole);
    const lines = said.out.split('\nExamples:')[0]?.split('\n') ?? [];
    expect(lines.length).toBeGreaterThan(20);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(60);
  });

  it('of the exit codes lists them all', async () => {
    const { whole, said } = program();
    expect(await runCommand(['help', 'exit-codes'], whole)).toBe(0);
    for (const code of Object.keys(EXIT_CODES)) expect(said.out).toMatch(new RegExp(`^  ${code} +[A-Z]`, 'm'));
  });

  it('of a command lists its options, and settings where they are its own', async () => {
    const { whole, said } = program();
    expect(await runCommand(['serve', '--help'], whole)).toBe(0);
    expect(said.out).toContain('--port …');
    expect(await runCommand(['keys', 'create', '-h'], whole)).toBe(0);
    expect(said.out).toContain('--expires 30d');
  });
});
