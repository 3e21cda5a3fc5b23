import { describe, expect, it } from 'vitest';
import { IdSet } from './id-set.ts';
import { InputFault } from './input-lines.ts';
import { type RowColumns, readInputRows, surveyRows } from './input-rows.ts';

async function* rawRows(rows: readonly Readonly<Record<string, unknown>>[]) {
  for (const [place, members] of rows.entries()) yield { line: place + 1, members };
}

async function read(rows: readonly Readonly<Record<string, unknown>>[], columns: Partial<RowColumns> = {}) {
  const found: unknown[] = [];
  for await (const row of readInputRows(rawRows(rows), { kept: [], ...columns })) {
    found.push(row instanceof InputFault ? row.message : [row.id, row.text, ...row.kept]);
  }
  return found;
}

const survey = (rows: readonly Readonly<Record<string, unknown>>[], begin = 0) =>
  surveyRows(readInputRows(rawRows(rows), { kept: [] }), begin);

describe('the rows of a batch', () => {
  it('have their document in the column that is named, or that is usual, or that is the only one', async () => {
    const row = { id: 'a', state: 's', text: 't', mail: 'm' };
    expect(await read([row])).toEqual([['a', 's']]);
    expect(await read([row], { text: 'mail', id: 'text', kept: ['mail', 'id'] })).toEqual([['t', 'm', 'm', 'a']]);
    expect(await read([{ whatever: 'w' }])).toEqual([[1, 'w']]);
    await expect(read([{ id: 'a', mail: 'm' }])).rejects.toThrow(/line 1: which column .* There are "id", "mail"\./);
    await expect(read([row], { text: 'letter' })).rejects.toThrow('line 1: there is no column "letter".');
  });

  it('have numbers where the file has no ids', async () => {
    expect(await read([{ text: 'x' }, { text: 'y' }])).toEqual([
      [1, 'x'],
      [2, 'y'],
    ]);
  });

  it.each([
    ['a missing id', [{ id: 1, text: 'x' }, { text: 'y' }], 'line 2: it has no id: "id" must be a text or a number.'],
    [
      'an empty id',
      [
        { id: '1', text: 'x' },
        { id: '', text: 'y' },
      ],
      /^line 2: it has no id/,
    ],
    [
      'an id that came before',
      [
        { id: 7, text: 'x' },
        { id: '7', text: 'y' },
      ],
      'line 2: the id "7" is there twice.',
    ],
    [
      'an id among rows without',
      [{ text: 'x' }, { id: 3, text: 'y' }],
      'line 2: it has an id, and the first row has none.',
    ],
    [
      'an id that is not exact',
      [
        { id: 1, text: 'x' },
        { id: 2 ** 60, text: 'y' },
      ],
      /^line 2: its id is a number/,
    ],
    [
      'a document that is no text',
      [
        { id: 1, text: 'x' },
        { id: 2, text: 5 },
      ],
      'line 2: "text" must be a text.',
    ],
  ] as const)('are told by line: %s', async (_, rows, told) => {
    const [first, second] = await read(rows);
    expect(first).toEqual([expect.anything(), 'x']);
    expect(second).toEqual(typeof told === 'string' ? told : expect.stringMatching(told));
  });
});

describe('a survey', () => {
  it('counts rows and faults', async () => {
    const found = await survey([{ text: 'x' }, ...Array.from({ length: 12 }, () => ({ text: 1 }))]);
    expect(found).toMatchObject({ rows: 1, moreFaults: 2 });
    expect(found.faults).toHaveLength(10);
  });

  it('knows rows again, also when others were added', async () => {
    const rows = [{ text: 'x' }, { text: 'y' }];
    const { digest } = await survey(rows);
    expect((await survey([...rows, { text: 'z' }], 2)).beginDigest).toBe(digest);
    expect((await survey([{ text: 'x' }, { text: 'Y' }], 2)).beginDigest).not.toBe(digest);
    expect((await survey([{ text: 'x' }], 2)).beginDigest).toBeUndefined();
  });
});

describe('a set of ids', () => {
  it('has what was added, once, and nothing else', () => {
    const ids = new IdSet();
    const names = Array.from({ length: 5000 }, (_, place) => `id ${place}`);
    expect(names.every((id) => ids.add(id))).toBe(true);
    expect(names.some((id) => ids.add(id))).toBe(false);
    expect(names.every((id) => ids.has(id))).toBe(true);
    expect(ids.has('id 5000')).toBe(false);
    expect(ids.size).toBe(5000);
  });
});
