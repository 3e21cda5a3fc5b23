// Batches over a server that answers as it is told: what is asked, what is written, and what is said of bad input.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Program } from '../../src/cli/program.ts';
import { runCommand } from '../../src/cli/run-command.ts';
import { RunFile } from '../../src/client/batch/run-file.ts';
import type { WireReply } from '../../src/client/server-connection.ts';
import { program } from './program-double.ts';

const root = mkdtempSync(join(tmpdir(), 'umpire-batch-command-'));
afterAll(() => rmSync(root, { recursive: true }));

let folder: string;
let places: Readonly<Record<'rows' | 'questions' | 'out' | 'csv', string>>;
beforeEach(() => {
  folder = mkdtempSync(join(root, 'run-'));
  places = {
    rows: join(folder, 'rows.jsonl'),
    questions: join(folder, 'questions.yaml'),
    out: join(folder, 'out.jsonl'),
    csv: join(folder, 'out.csv'),
  };
  writeFileSync(places.questions, 'team:\n  type: choice\n  instructions: Who?\n  criteria: {"10": null, a: x}\n');
});

interface Posted {
  readonly path: string;
  readonly body: string;
  readonly key: string;
}

type Serve = (posted: Posted, index: number) => WireReply | Promise<WireReply>;

const COST = { 'x-umpire-cost-usd': '0.000001' };

const decided: Serve = () => ({
  status: 200,
  headers: COST,
  body: '{"model":"kev","answers":{"team":{"type":"choice","choice":"a","probabilities":{"10":0.25,"a":0.75},"confidence":0.5}},"usage":{"input_tokens":7,"output_tokens":0}}',
});

function refused(status: number, code: string, param: string | null = null): WireReply {
  return { status, headers: {}, body: JSON.stringify({ error: { message: `It is ${code}.`, code, param } }) };
}

/** Vectors that name their text: its length. */
const embedded: Serve = ({ body }) => {
  const { input } = JSON.parse(body) as { input: string[] };
  const vector = (text: string) => Buffer.from(new Float32Array([text.length, 0.1]).buffer).toString('base64');
  const data = input.map((text, index) => ({ object: 'embedding', index, embedding: vector(text) }));
  return { status: 200, headers: COST, body: JSON.stringify({ object: 'list', data, model: 'm', usage: {} }) };
};

async function run(args: readonly string[], serve: Serve, parts: Partial<Program> = {}) {
  const posted: Posted[] = [];
  const { whole, said } = program({
    startLocalServer: async () => ({
      post: async (path, body, headers = {}) => {
        const request = { path, body, key: headers['idempotency-key'] ?? '' };
        posted.push(request);
        return await serve(request, posted.length - 1);
      },
      close: async () => undefined,
    }),
    ...parts,
  });
  const code = await runCommand(args, whole);
  return { code, said, posted };
}

const decide = (serve: Serve = decided, args: readonly string[] = [], parts: Partial<Program> = {}) =>
  run(
    ['decide', '--input', places.rows, '--questions', places.questions, '--output', places.out, ...args],
    serve,
    parts,
  );

const writeRows = (count: number, text = (place: number) => `text ${place}`) =>
  writeFileSync(
    places.rows,
    Array.from(
      { length: count },
      (_, place) => `${JSON.stringify({ id: place, text: text(place), day: 'Mon' })}\n`,
    ).join(''),
  );
const readOut = (path = places.out): string => readFileSync(path, 'utf8');
const idsOf = (text: string) => text.split('\n').flatMap((line) => (line === '' ? [] : JSON.parse(line).id));
const stateOf = ({ body }: Posted): string => JSON.parse(body).state;

describe('umpire decide over rows', () => {
  it('writes the whole answer of each row in the order of the rows', async () => {
    writeRows(40);
    const held: (() => void)[] = [];
    // The first to come is answered last.
    const { code, said, posted } = await decide(async (request, index) => {
      if (index === 0) await new Promise<void>((resolve) => held.push(resolve));
      if (index === 1) held.pop()?.();
      return await decided(request, index);
    });
    expect(code).toBe(0);
    expect(idsOf(readOut())).toEqual(Array.from({ length: 40 }, (_, place) => place));
    expect(readOut().split('\n')[0]).toBe(
      '{"id":0,"model":"kev","answers":{"team":{"type":"choice","choice":"a","probabilities":{"10":0.25,"a":0.75},"confidence":0.5}},"usage":{"input_tokens":7,"output_tokens":0},"cost_usd":"0.000001"}',
    );
    expect(posted[0]?.body).toBe(
      '{"model":"kev","state":"text 0","questions":{"team":{"type":"choice","instructions":"Who?","criteria":{"10":null,"a":"x"}}}}',
    );
    expect(said.error).toMatch(
      /^40 rows in .*out\.jsonl: 40 answered\. This run: 40 rows in \d+ s, .*, \$0\.00004\.\n$/,
    );
  });

  it('writes a column for answer, probability and confidence in CSV, and what is kept of the row', async () => {
    writeFileSync(places.rows, '{"id":"=1, \\"a\\"","text":"x","day":"Mon"}\n');
    const { code } = await run(
      ['decide', '--input', places.rows, '--questions', places.questions, '--output', places.csv, '--keep', 'day'],
      decided,
    );
    expect(code).toBe(0);
    expect(readOut(places.csv)).toBe(
      'id,day,team,team_probability,team_confidence,input_tokens,cost_usd,error\r\n"=1, ""a""",Mon,a,0.75,0.5,7,0.000001,\r\n',
    );
  });

  it('writes a row that is refused with its line and error, goes on, and ends with 3', async () => {
    writeRows(5);
    const { code, said } = await decide((request, index) =>
      stateOf(request) === 'text 2' ? refused(400, 'context_length_exceeded', 'state') : decided(request, index),
    );
    expect(code).toBe(3);
    expect(idsOf(readOut())).toEqual([0, 1, 2, 3, 4]);
    expect(readOut().split('\n')[2]).toBe(
      '{"id":2,"line":3,"error":{"status":400,"code":"context_length_exceeded","message":"It is context_length_exceeded."}}',
    );
    expect(said.error).toContain('4 answered, 1 with errors');
  });

  it('stops where the next row would hear the same, keeps what is answered, and goes on from there', async () => {
    writeRows(20);
    const broke = await decide((request, index) =>
      index < 6 ? decided(request, index) : refused(402, 'insufficient_quota'),
    );
    expect(broke.code).toBe(1);
    expect(broke.said.error).toContain('umpire: It is insufficient_quota. (insufficient_quota)\n6 of 20 rows are in');
    expect(broke.said.error).toContain('The same command goes on with the rest.');
    const { code, posted, said } = await decide();
    expect(code).toBe(0);
    expect(said.error).toContain('6 rows are in');
    expect(posted).toHaveLength(14);
    expect(idsOf(readOut())).toEqual(Array.from({ length: 20 }, (_, place) => place));
    // The row that was refused carries the key of the first run.
    expect(broke.posted.map(({ key }) => key)).toContain(posted[0]?.key);
  });

  it('finishes what is under way when it is stopped, and asks nothing more', async () => {
    writeRows(50);
    let stop = (): void => undefined;
    const { code, said, posted } = await decide(
      (request, index) => {
        if (index === 9) stop();
        return decided(request, index);
      },
      [],
      {
        onInterrupt: (action) => {
          stop = action;
          return () => undefined;
        },
      },
    );
    expect(code).toBe(130);
    expect(posted.length).toBeLessThan(50);
    expect(idsOf(readOut())).toHaveLength(posted.length);
    expect(said.error).toContain('Stopping: what is under way is finished first.');
    expect(said.error).toContain('The same command goes on with the rest.');
    expect((await decide()).code).toBe(0);
    expect(idsOf(readOut())).toEqual(Array.from({ length: 50 }, (_, place) => place));
  });

  it('asks for rows that were added to the input since', async () => {
    writeRows(3);
    await decide();
    writeRows(5);
    const { code, posted } = await decide();
    expect([code, posted.map(stateOf)]).toEqual([0, ['text 3', 'text 4']]);
  });

  it('tells one key from another by row and by batch', async () => {
    writeRows(4, () => 'the same');
    const { posted } = await decide();
    expect(new Set(posted.map(({ key }) => key)).size).toBe(4);
    for (const { key } of posted) expect(key).toMatch(/^[\x21-\x7e]{1,255}$/);
    rmSync(places.out);
    rmSync(`${places.out}.run`);
    const again = await decide();
    expect(again.posted.some(({ key }) => posted.some((one) => one.key === key))).toBe(false);
  });

  it('reads packed files, and standard input and output', async () => {
    const rows = '{"id":1,"text":"one"}\n{"id":2,"text":"two"}\n';
    const packed = join(folder, 'rows.jsonl.gz');
    writeFileSync(packed, gzipSync(rows));
    const fromFile = await run(['decide', '--input', packed, '--noul', 'Is it?', '--output', '-'], () => ({
      status: 200,
      headers: {},
      body: '{"answers":{"q1":{"type":"noul","noul":0.25}},"usage":{"input_tokens":1}}',
    }));
    expect(fromFile.code).toBe(0);
    expect(idsOf(fromFile.said.out)).toEqual([1, 2]);
    const piped = await run(
      ['decide', '--input', '-', '--questions', places.questions, '--output', '-', '--output-format', 'csv'],
      decided,
      {
        openStdin: async function* () {
          yield Buffer.from(rows);
        },
      },
    );
    expect(piped.said.out).toBe(
      'id,team,team_probability,team_confidence,input_tokens,cost_usd,error\r\n1,a,0.75,0.5,7,0.000001,\r\n2,a,0.75,0.5,7,0.000001,\r\n',
    );
  });
});

describe('bad input of a batch', () => {
  it.each([
    ['a line that is no JSON', 'rows.jsonl', '{"id":1,"text":"x"}\n{"id":2,\n', 'line 2: it is not a JSON object.'],
    ['a quote that is never closed', 'rows.csv', 'id,text\n1,x\n2,"y\n3,z\n', 'line 3: a quote (") is opened'],
    ['a missing id', 'rows.csv', 'id,text\n1,x\n,y\n', 'line 3: it has no id'],
    ['an id that is there twice', 'rows.csv', 'id,text\n1,x\n1,y\n', 'line 3: the id "1" is there twice.'],
    ['other separators', 'rows.csv', 'id;text\n1;x\n', 'line 1: there is one column, "id;text". Say with --delimiter'],
    ['no document', 'rows.csv', 'id,mail\n1,x\n', 'line 2: which column is the document?'],
    ['bytes that are no text', 'rows.jsonl', Buffer.from([0xff, 0xfe, 0x0a]), 'line 1: it is not valid UTF-8.'],
  ] as const)('is told with its line before anything is asked: %s', async (_, name, text, told) => {
    const input = join(folder, name);
    writeFileSync(input, text);
    const { code, said, posted } = await run(
      ['decide', '--input', input, '--questions', places.questions, '--output', places.out],
      decided,
    );
    expect([code, posted]).toEqual([1, []]);
    expect(said.error).toContain(`${input} has faults, and nothing was asked:\n  ${told}`);
    // Nothing is left behind that would be in the way of the next try.
    expect(() => readOut()).toThrow();
    expect(() => readOut(`${places.out}.run`)).toThrow();
  });

  it.each(['', '\n\n', 'id,text\n'])('is told: no rows in %j', async (text) => {
    const input = join(folder, 'rows.csv');
    writeFileSync(input, text);
    const args = ['decide', '--input', input, '--questions', places.questions, '--output', places.out];
    const { code, said } = await run(args, decided);
    expect(code).toBe(1);
    expect(said.error).toBe(`umpire: There are no rows in ${input}.\n`);
  });

  it('is told: a packed file that is cut off', async () => {
    const packed = join(folder, 'rows.jsonl.gz');
    writeFileSync(packed, gzipSync('{"id":1,"text":"x"}\n'.repeat(100)).subarray(0, 40));
    const args = ['decide', '--input', packed, '--questions', places.questions, '--output', places.out];
    const { code, said } = await run(args, decided);
    expect(code).toBe(1);
    expect(said.error).toMatch(/rows\.jsonl\.gz cannot be read: unexpected end of file/);
  });

  it('is told: a fault that standard input comes to, after the rows before it', async () => {
    const args = ['decide', '--input', '-', '--questions', places.questions, '--output', places.out];
    const { code, said } = await run(args, decided, {
      openStdin: async function* () {
        yield Buffer.from('{"id":1,"text":"x"}\nnothing\n');
      },
    });
    expect(code).toBe(1);
    expect(said.error).toContain('umpire: -: line 2: it is not a JSON object.\n1 rows are in');
    expect(idsOf(readOut())).toEqual([1]);
  });

  it('is told: questions that no row can be asked', async () => {
    writeRows(10);
    const { code, said, posted } = await decide(() => refused(400, 'invalid_request', 'questions[0].criteria'));
    expect(code).toBe(1);
    expect(said.error).toContain('umpire: It is invalid_request.');
    expect(posted.length).toBeLessThanOrEqual(2);
  });

  it.each([
    ['questions: [', 'is not valid YAML'],
    ['- one\n- two\n', 'must hold an object'],
  ])('is told: questions that are %j', async (yaml, told) => {
    writeRows(1);
    writeFileSync(places.questions, yaml);
    const { code, said } = await decide();
    expect(code).toBe(2);
    expect(said.error).toContain(told);
  });

  it.each([
    [['--input', 'rows.jsonl'], 'A batch needs --output'],
    [['--output', 'out.jsonl'], 'A batch needs --input'],
    [['--input', 'nowhere.jsonl', '--output', 'out.jsonl'], 'There is no file nowhere.jsonl.'],
    [['--input', '-', '--output', 'out.xlsx'], 'name it .jsonl or .csv, or say --output-format'],
    [['--input', '-', '--output', 'out.jsonl.gz'], 'The output is not packed'],
    [['--input', '-', '--output', '-', '--json'], 'cannot both go to standard output'],
    [['--input', '-', '--output', '-', '--concurrency', '0'], '--concurrency takes a number from 1'],
    [['--input', '-', '--output', '-', '--delimiter', ';;'], '--delimiter takes one character'],
    [['--input', '-', '--output', '-', '--keep', 'id'], 'two columns named "id"'],
    [['--input', '-', '--output', '-', '--text', 'a text'], 'one of --text, a file or the rows'],
  ])('is a mistake in the command line: %j', async (args, told) => {
    const { code, said } = await run(['decide', ...args, '--questions', places.questions], decided);
    expect(code).toBe(2);
    expect(said.error).toContain(told);
  });
});

describe('an output', () => {
  it('is refused to a second run as long as the first has it', async () => {
    writeRows(2);
    const first = RunFile.open(`${places.out}.run`);
    try {
      const { code, said, posted } = await decide();
      expect([code, posted]).toEqual([1, []]);
      expect(said.error).toContain('Another run is writing to this output.');
    } finally {
      first.close();
    }
    expect((await decide()).code).toBe(0);
  });

  it.each([
    ['what is asked is not the same', () => writeFileSync(places.questions, 'a: {type: noul, instructions: x?}\n')],
    ['its input had other rows', () => writeRows(2, (place) => `other ${place}`)],
  ])('is refused to another batch: %s', async (told, change) => {
    writeRows(2);
    await decide();
    const before = readOut();
    change();
    const { code, said, posted } = await decide();
    expect([code, posted]).toEqual([1, []]);
    expect(said.error).toContain(`belongs to another batch: ${told}.`);
    expect(readOut()).toBe(before);
  });

  it('is refused when no batch wrote it', async () => {
    writeRows(2);
    writeFileSync(places.out, '{"id":0}\n');
    const { code, said } = await decide();
    expect(code).toBe(1);
    expect(said.error).toContain('is there already and no batch wrote it');
    expect(readOut()).toBe('{"id":0}\n');
  });

  it.each([1, 40, 90])('of CSV is repaired where its last row is not whole: %i bytes of it', async (bytes) => {
    writeFileSync(places.rows, '{"id":"a","text":"x"}\n{"id":"b\\nc \\"d\\"","text":"y"}\n');
    const args = ['decide', '--input', places.rows, '--questions', places.questions, '--output', places.csv];
    await run(args, decided);
    const whole = readOut(places.csv);
    const start = whole.indexOf('"b');
    writeFileSync(places.csv, whole.slice(0, Math.min(start + bytes, whole.length - 1)));
    const { code, posted, said } = await run(args, decided);
    expect([code, posted.length]).toEqual([0, 1]);
    expect(said.error).toContain('The last row of the output was not whole, and is asked again.');
    expect(readOut(places.csv)).toBe(whole);
  });
});

describe('umpire embed', () => {
  const embed = (serve: Serve, args: readonly string[] = []) =>
    run(['embed', '--input', places.rows, '--output', places.out, ...args], serve);

  it('asks for several rows at once and writes a vector for each', async () => {
    writeRows(40, (place) => 'x'.repeat(place + 1));
    const { code, posted } = await embed(embedded);
    expect(code).toBe(0);
    expect(posted.map(({ body }) => JSON.parse(body).input.length)).toEqual([32, 8]);
    const rows = readOut()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(rows[39]).toEqual({ id: 39, embedding: [40, Math.fround(0.1)] });
  });

  it('finds the rows that are refused among those that are not', async () => {
    writeRows(33, (place) => (place === 5 || place === 30 ? 'far too long' : `t${place}`));
    const { code, posted } = await embed((request, index) =>
      request.body.includes('far too long') ? refused(400, 'context_length_exceeded') : embedded(request, index),
    );
    expect(code).toBe(3);
    const rows = readOut()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(rows.map(({ id }) => id)).toEqual(Array.from({ length: 33 }, (_, place) => place));
    expect(rows.filter(({ error }) => error !== undefined).map(({ id, line }) => [id, line])).toEqual([
      [5, 6],
      [30, 31],
    ]);
    expect(posted.length).toBeLessThan(25);
  });

  it('asks for a group that is not whole in the output just as before, so that it is billed once', async () => {
    writeRows(32);
    const first = await embed(embedded, ['--vectors', 'base64']);
    const lines = readOut().split('\n');
    writeFileSync(places.out, `${lines.slice(0, 10).join('\n')}\n{"id":10,"emb`);
    const { code, posted } = await embed(embedded, ['--vectors', 'base64']);
    expect(code).toBe(0);
    expect(posted).toEqual(first.posted);
    expect(readOut()).toBe(lines.join('\n'));
  });

  it('prints the vector of one text', async () => {
    const { code, said, posted } = await run(['embed', '--text', 'four', '--dimensions', '2'], embedded);
    expect([code, said.out]).toEqual([0, `[4,${Math.fround(0.1)}]\n`]);
    expect(JSON.parse(posted[0]?.body ?? '')).toEqual({
      model: 'text-embed-mini',
      input: ['four'],
      encoding_format: 'base64',
      dimensions: 2,
    });
    expect((await run(['embed', '--text', 'four', '--vectors', 'base64'], embedded)).said.out).toMatch(
      /^"[\w+/=]+"\n$/,
    );
  });
});
