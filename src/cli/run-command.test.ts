// From words to a command, and what a mistake in them is answered with. The program around is a double; test/process has
// the real one.

import { describe, expect, it } from 'vitest';
import { program, servicesOver } from '../../test/cli/program-double.ts';
import { COMMANDS, runCommand } from './run-command.ts';

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
    [['usage', '--by', 'day,hour'], '--by takes one of day, hour, minute'],
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
    [['--port', '1'], 'A command comes before --port, as in `umpire serve --port`. `umpire --help` lists them.'],
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

describe('with --json', () => {
  it.each([
    [['keys', 'create', '--json'], 2, '--name is needed: what the key is for.'],
    [['keys', 'creat', '--json'], 2, 'There is no command "keys creat". Did you mean "keys create"?'],
    [['keys', '--json'], 2, 'keys needs one of these commands.'],
    [['usage', '--json', '--form', '7d'], 2, "Unknown option '--form'. Did you mean --from?"],
    [['serve', '--json'], 2, '--json goes with --print-config'],
  ])('a mistake such as %o is one object in the shape of the API, on standard error', async (args, code, told) => {
    const { whole, said } = program();
    expect(await runCommand(args, whole)).toBe(code);
    expect(said.out).toBe('');
    expect(JSON.parse(said.error)).toEqual({
      error: {
        message: expect.stringContaining(told),
        type: 'invalid_request_error',
        param: null,
        code: 'invalid_usage',
      },
    });
  });

  it('a failure has the code that the program finds for it, and no stack where it finds none', async () => {
    const error = new Error('it broke');
    const failing = {
      withServices: () => Promise.reject(error),
      findFailure: () => ({ message: 'in use', type: 'server_error', param: null, code: 'store_failed' }),
    };
    const expected = program(failing);
    expect(await runCommand(['keys', 'list', '--json'], expected.whole)).toBe(1);
    expect(JSON.parse(expected.said.error)).toEqual({
      error: { message: 'in use', type: 'server_error', param: null, code: 'store_failed' },
    });
    const unexpected = program({ withServices: failing.withServices });
    expect(await runCommand(['keys', 'list', '--json'], unexpected.whole)).toBe(1);
    expect(JSON.parse(unexpected.said.error)).toEqual({
      error: { message: 'it broke', type: 'server_error', param: null, code: 'internal_error' },
    });
    expect(await runCommand(['keys', 'list'], unexpected.whole)).toBe(1);
    expect(unexpected.said.error).toContain('umpire: Error: it broke\n    at ');
  });

  // What completion prints is for a program as it is.
  const answering = COMMANDS.filter(({ name }) => name !== 'completion');

  it.each(answering.map((command) => [command.name, command] as const))('%s says what it prints', (_, command) => {
    expect(command.options).toHaveProperty('json');
    expect(command.usage).toContain('--json');
    expect(command.json?.members.length).toBeGreaterThan(0);
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
