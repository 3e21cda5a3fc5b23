// From words to a command, and what a mistake in them is answered with. The program around is a double; test/process has
// the real one.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { program, servicesOver } from '../../test/cli/program-double.ts';
import { COMMAND_GROUPS, type CommandGroup } from './command-groups.ts';
import { EXIT_CODES } from './exit-codes.ts';
import { COMMANDS, runCommand } from './run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'umpire-commands-'));

afterAll(() => rmSync(folder, { recursive: true }));

describe('a mistake in the command line', () => {
  it.each([
    [['keys', 'create', '--name'], "Option '--name <value>' argument missing"],
    [['keys', 'create'], '--name is needed'],
    [['keys', 'create', '--name', ' '], '--name is needed'],
    [['keys', 'create', '--name', 'x', '--expires', 'soon'], '--expires takes'],
    [['keys', 'create', '--name', 'x', '--expires', '2001-01-01'], '--expires must lie in the future'],
    [['keys', 'create', '--name', 'x', '--models', 'a,,b'], '--models takes model ids'],
    [['keys', 'create', '--name', 'a\nb'], 'control characters'],
    [['keys', 'create', 'billing'], 'nothing to do with "billing"'],
    [['keys', 'revoke'], 'keys revoke takes one id'],
    [['keys', 'revoke', 'key_a', 'key_b'], 'keys revoke takes one id'],
    [['keys', 'create', '--name', 'x', '--scope', 'root'], '--scope takes inference, admin'],
    [['keys', 'create', '--name', 'x', '--model', ''], '--models takes model ids'],
    [['keys', 'create', '--name', 'x', '--budget=-1'], '--budget takes dollars such as 12.50'],
    [['keys', 'create', '--name', 'x', '--budget', '1,50'], '--budget takes dollars such as 12.50'],
    [['keys', 'create', '--name', 'x', '--budget', '1', '--reset', 'year'], '--reset takes none, day, month'],
    [['keys', 'create', '--name', 'x', '--reset', 'day'], '--reset goes with a --budget'],
    [['keys', 'create', '--name', 'x', '--budget', 'none', '--reset', 'day'], '--reset goes with a --budget'],
    [['keys', 'create', '--name', 'x', '--requests-per-minute', '0'], '--requests-per-minute takes a whole number'],
    [['keys', 'create', '--name', 'x', '--tokens-per-minute', '1e3'], '--tokens-per-minute takes a whole number'],
    [['keys', 'create', '--name', 'x', '--concurrent', '1.5'], '--concurrent takes a whole number'],
    [['keys', 'show'], 'keys show takes one id'],
    [['keys', 'update', 'key_a'], 'What is to change?'],
    [['keys', 'update', 'key_a', '--name', ' '], '--name is needed'],
    [['keys', 'rotate', 'key_a', '--overlap', '2027-01-01'], '--overlap takes 90m, 12h, 30d or 52w'],
    [['keys', 'disable'], 'keys disable takes one id'],
    [['keys', 'enable', 'key_a', 'key_b'], 'keys enable takes one id'],
    [['prices', 'list', 'kev'], 'nothing to do with "kev"'],
    [['prices', 'set', '--input', '1', '--output', '0'], 'prices set takes one model'],
    [['prices', 'set', 'kev', '--input', '1'], '--input and --output are needed'],
    [['prices', 'set', 'kev', '--input', '0.0000001', '--output', '0'], '--input takes dollars per million tokens'],
    [['prices', 'set', 'kev', '--input', '1', '--output', '1000.000001'], '--output takes dollars per million tokens'],
    [['prices', 'set', 'kev', '--input', '1', '--output', '0', '--from', '3d'], '--from takes a date such as'],
    [['usage', 'kev'], 'nothing to do with "kev"'],
    [['usage', '--by', 'key,week'], '--by takes key, model, endpoint, end, day, hour'],
    [['usage', '--by', 'key,key'], '--by names something twice'],
    [['usage', '--by', 'day,hour'], '--by takes day or hour, not both'],
    [['usage', '--from', 'yesterday'], '--from takes 90m, 12h, 30d, 52w, or a date'],
    [['usage', '--from', '2027-01-02', '--to', '2027-01-02'], '--from must lie before --to'],
    [['requests', '--limit', 'all'], '--limit takes a whole number'],
    [['audit', 'key_a'], 'nothing to do with "key_a"'],
    [['models', 'list', 'kev'], 'nothing to do with "kev"'],
    [['serve', 'now'], 'serve takes no "now"'],
    [['serve', '--prot', '1'], "Unknown option '--prot'"],
    [['decide', 'letter.txt'], 'Ask something'],
    [['decide', 'no-such-file', '--noul', 'x'], 'no-such-file cannot be read: ENOENT'],
    [['decide', '--questions', 'no-such-file'], 'no-such-file cannot be read: ENOENT'],
    [['decide', '--questions', 'q.json', '--noul', 'x'], 'not both'],
    [['decide', 'a', 'b', '--noul', 'x'], 'There can be one document'],
    [['decide', 'a', '--text', 'b', '--noul', 'x'], 'not both'],
    [['decide', '--url', 'here', '--noul', 'x'], '--url must be an http or https address'],
    [['eval'], 'It takes one file of labelled rows'],
    [['eval', 'a', 'b'], 'It takes one file of labelled rows'],
    [['eval', 'no-such-file'], 'no-such-file cannot be read: ENOENT'],
    [['eval', import.meta.filename, '--limit', 'x'], '--limit takes a number of rows'],
    [['eval', import.meta.filename, '--questions', import.meta.filename], 'is not valid JSON'],
    [['calibrate'], 'It takes one file of labelled rows'],
    [['calibrate', 'a', '--out', 'b', '--dry-run'], 'not both'],
  ])('such as %o is answered with 2, the usage, and last what is wrong', async (args, told) => {
    const { whole, said } = program();
    expect(await runCommand(args, whole)).toBe(2);
    expect(said.out).toBe('');
    const lines = said.error.trimEnd().split('\n');
    expect(lines.at(-1)).toMatch(/^umpire: /);
    expect(lines.at(-1)).toContain(told);
    expect(lines[0]).toMatch(/^Usage: umpire /);
    expect(lines.length).toBeLessThan(6);
  });

  it.each([
    [['nonsense'], 'There is no command "nonsense". `umpire --help` lists them.'],
    [['sevre'], 'There is no command "sevre". Did you mean "serve"? `umpire --help` lists them.'],
    [['key', 'create'], 'There is no command "key". Did you mean "keys"? `umpire --help` lists them.'],
    [
      ['keys', 'creat'],
      'There is no command "keys creat". Did you mean "keys create"? `umpire keys --help` lists them.',
    ],
    [['db', 'frobnicate'], 'There is no command "db frobnicate". `umpire db --help` lists them.'],
  ])('such as %o is answered with 2 and what may have been meant', async (args, told) => {
    const { whole, said } = program();
    expect(await runCommand(args, whole)).toBe(2);
    expect(said).toEqual({ out: '', error: `umpire: ${told}\n` });
  });

  it('such as a group alone is answered with 2, its commands, and last what is wrong', async () => {
    const { whole, said } = program();
    expect(await runCommand(['keys'], whole)).toBe(2);
    expect(said.error).toMatch(/^Usage: umpire keys <command>/);
    expect(said.error).toContain('keys rotate');
    expect(said.error).toMatch(/\numpire: keys needs one of these commands\.\n$/);
  });

  it('such as a slip in an option is told with the one that is near', async () => {
    const { whole, said } = program();
    expect(await runCommand(['serve', '--prot', '1'], whole)).toBe(2);
    expect(said.error).toMatch(/\numpire: Unknown option '--prot'\. Did you mean --port\?\n$/);
    expect(await runCommand(['serve', '--xyzzy', '1'], whole)).toBe(2);
    expect(said.error).toMatch(/\numpire: Unknown option '--xyzzy'\.\n$/);
  });
});

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

describe('settings', () => {
  it('on the command line reach the program, but not where an option of the command has the name', async () => {
    const seen: unknown[] = [];
    const { whole, said } = program({
      withServices: async (flags, use) => {
        seen.push(flags);
        return await use(
          servicesOver({
            keys: {
              insert: async ({ name, models, expiresAtMs }) => {
                seen.push({ name, models, expiresAtMs });
              },
            },
          }),
        );
      },
    });
    expect(await runCommand(['keys', 'create', '--name', ' x ', '--models', 'a, b', '--port', '9'], whole)).toBe(0);
    expect(seen).toEqual([{ port: '9' }, { name: 'x', models: ['a', 'b'], expiresAtMs: null }]);
    expect(said.out).toMatch(/^Created key_\w+ \(x\)\. It is shown only now:\n\n {2}ump_\w{38}\n\n$/);
  });
});

describe('decide', () => {
  const reply = { answers: { q1: { type: 'noul', noul: 0.25 } }, usage: { input_tokens: 3 } };

  async function decide(args: readonly string[], answer = { status: 200, body: JSON.stringify(reply) }) {
    const posted: string[] = [];
    let closed = 0;
    const { whole, said } = program({
      startLocalServer: async () => ({
        post: async (_path, body) => {
          posted.push(body);
          return { ...answer, headers: {} };
        },
        close: async () => {
          closed++;
        },
      }),
    });
    const code = await runCommand(['decide', ...args], whole);
    expect(closed).toBe(1);
    return { code, said, body: posted[0] ?? '' };
  }

  it('sends questions in the order of the flags, options in theirs, names untouched', async () => {
    const options = ['10=ten', '2', '__proto__=a=b', '='];
    const { body } = await decide([
      '--score',
      'How?',
      'low',
      'high',
      '--choice',
      'Which?',
      ...options,
      '--noul',
      'Is it?',
    ]);
    expect(body).toBe(
      '{"model":"kev","state":"from standard input","questions":{' +
        '"q1":{"type":"score","instructions":"How?","criteria":["low","high"]},' +
        '"q2":{"type":"choice","instructions":"Which?","criteria":{"10":"ten","2":null,"__proto__":"a=b","":""}},' +
        '"q3":{"type":"noul","instructions":"Is it?"}}}',
    );
  });

  it('shows yes and no as bars', async () => {
    const { code, said } = await decide(['--noul', 'Is it?', 'true=so', '--text', 'a document']);
    expect(code).toBe(0);
    expect(said.out).toBe(
      `Is it?\n  yes  ${'███████▌'.padEnd(30)}   25.0 %\n  no   ${'██████████████████████▌'.padEnd(30)}   75.0 %\n\n3 input tokens\n`,
    );
  });

  it('lets no name steer the terminal', async () => {
    const nasty = {
      answers: { q1: { type: 'choice', choice: '\u001b[2J', probabilities: { '\u001b[2J': 1 }, confidence: 1 } },
    };
    const { said } = await decide(['--choice', 'x', '\u001b[2J'], {
      status: 200,
      body: JSON.stringify({ ...nasty, usage: { input_tokens: 1 } }),
    });
    expect(said.out).not.toContain('\u001b');
  });

  it.each(['rows.csv', 'ROWS.TSV', 'rows.jsonl', 'rows.ndjson'])(
    'says of %s that it is one document, and asks about all of it',
    async (name) => {
      const file = join(folder, name);
      writeFileSync(file, 'id,text\n1,hello\n');
      const { code, said, body } = await decide([file, '--noul', 'Is it?']);
      expect(code).toBe(0);
      expect(said.error).toContain(`${file} (2 lines) is read as one document`);
      expect(said.error).toContain('not for each row');
      expect(JSON.parse(body)).toHaveProperty('state', 'id,text\n1,hello\n');
    },
  );

  it('says nothing of other files', async () => {
    const file = join(folder, 'letter.txt');
    writeFileSync(file, '\u{feff}hello\n');
    const { said, body } = await decide([file, '--noul', 'Is it?']);
    expect(said.error).toBe('');
    expect(JSON.parse(body)).toHaveProperty('state', '\u{feff}hello\n');
  });

  it('refuses a file that is no text', async () => {
    const file = join(folder, 'letter.pdf');
    writeFileSync(file, Buffer.from([0x25, 0x50, 0x44, 0x46, 0xff, 0xfe]));
    const { whole, said } = program();
    expect(await runCommand(['decide', file, '--noul', 'Is it?'], whole)).toBe(2);
    expect(said.error).toContain(`${file} is no text: it is not valid UTF-8.`);
  });

  it('ends with 1 when the server refuses, in its words', async () => {
    const refused = { status: 400, body: '{"error":{"message":"Too long.","code":"context_length_exceeded"}}' };
    const { code, said } = await decide(['--noul', 'x'], refused);
    expect(code).toBe(1);
    expect(said).toEqual({ out: '', error: 'umpire: Too long. (context_length_exceeded)\n' });
  });
});
