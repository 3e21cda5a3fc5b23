// What `umpire decide` asks of a server, and how it shows the answers. The server is a double; test/process has a real one.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { program } from '../../test/cli/program-double.ts';
import { runCommand } from './run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'umpire-decide-'));

afterAll(() => rmSync(folder, { recursive: true }));

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

  it('with --json gives the refusal as the server wrote it', async () => {
    const error = {
      message: 'Too long.',
      type: 'invalid_request_error',
      param: 'state',
      code: 'context_length_exceeded',
    };
    const { code, said } = await decide(['--noul', 'x', '--json'], { status: 400, body: JSON.stringify({ error }) });
    expect(code).toBe(1);
    expect(said.out).toBe('');
    expect(JSON.parse(said.error)).toEqual({ error });
  });
});
