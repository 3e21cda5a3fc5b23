import { describe, expect, it } from 'vitest';
import { InputFault, readLines } from './input-lines.ts';
import { type RowFormat, readRawRows } from './raw-rows.ts';

async function* bytesOf(text: string | Buffer, chunkBytes: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
}

async function read(text: string | Buffer, format: RowFormat, { delimiter = ',', chunkBytes = 3 } = {}) {
  const rows: unknown[] = [];
  for await (const row of readRawRows(readLines(bytesOf(text, chunkBytes)), format, delimiter)) {
    rows.push(row instanceof InputFault ? row.message : [row.line, row.members]);
  }
  return rows;
}

describe('CSV', () => {
  it('is read as RFC 4180 has it, with the line on which each record begins', async () => {
    const text = '\ufeffid,text\r\n1,"a, ""b""\r\nc"\r\n\r\n2,dé\n3,\r\n';
    expect(await read(text, 'csv')).toEqual([
      [2, { id: '1', text: 'a, "b"\r\nc' }],
      [5, { id: '2', text: 'dé' }],
      [6, { id: '3', text: '' }],
    ]);
  });

  it.each([
    [
      'a quote that is never closed',
      'id,text\n1,a\n2,"b\n3,c\n',
      'line 3: a quote (") is opened in this row and never closed.',
    ],
    ['text after a quote', 'id,text\n1,a\n2,"b"c\n3,d\n', /^line 3: text follows a closing quote/],
    ['a quote in mid-value', 'id,text\n1,a\n2,b "c" d\n3,e\n', /^line 3: a quote \("\) stands in the middle/],
    ['a value too many', 'id,text\n1,a\n2,b,c\n', 'line 3: it has 3 values, and the heading has 2.'],
    ['a value too few', 'id,text\n1,a\n2\n', 'line 3: it has 1 values, and the heading has 2.'],
    ['a column that is there twice', 'id,id\n1,a\n', 'line 1: two columns are named "id".'],
  ] as const)('says the line of %s', async (_, text, told) => {
    const rows = await read(text, 'csv');
    expect(rows).toContainEqual(typeof told === 'string' ? told : expect.stringMatching(told));
    // What stands before it is read.
    if (!told.toString().includes('line 1')) expect(rows).toContainEqual([2, { id: '1', text: 'a' }]);
  });

  it('takes other delimiters', async () => {
    expect(await read('id;text\n1;a,b\n', 'csv', { delimiter: ';' })).toEqual([[2, { id: '1', text: 'a,b' }]]);
  });

  it('keeps the lines of many records', async () => {
    const text = `id,text\n${Array.from({ length: 1000 }, (_, at) => `${at},"x\ny"\n`).join('')}bad"\n`;
    const rows = await read(text, 'csv', { chunkBytes: 1000 });
    expect(rows[999]).toEqual([2000, { id: '999', text: 'x\ny' }]);
    expect(rows[1000]).toMatch(/^line 2002: /);
  });
});

describe('JSON Lines', () => {
  it('have an object in each line that is not empty', async () => {
    expect(await read('{"a":1}\r\n\n{"__proto__":"x"}', 'jsonl')).toEqual([
      [1, { a: 1 }],
      [3, JSON.parse('{"__proto__":"x"}')],
    ]);
  });

  it('are told by line where they are none, and read on', async () => {
    expect(await read('{"a":1}\n{"a":\n[1]\n{"a":2}\n', 'jsonl')).toEqual([
      [1, { a: 1 }],
      'line 2: it is not a JSON object.',
      'line 3: it is not a JSON object.',
      [4, { a: 2 }],
    ]);
  });

  it('must be UTF-8', async () => {
    const latin = Buffer.concat([Buffer.from('{"a":1}\n{"a":"'), Buffer.from([0xe9]), Buffer.from('"}\n')]);
    await expect(read(latin, 'jsonl')).rejects.toThrow('line 2: it is not valid UTF-8.');
  });

  it('are never longer than memory should bear', async () => {
    const endless = Buffer.alloc(17 * 1024 * 1024, 'x');
    await expect(read(endless, 'jsonl', { chunkBytes: 65_536 })).rejects.toThrow('line 1: it is longer than 16 MiB.');
  });
});
