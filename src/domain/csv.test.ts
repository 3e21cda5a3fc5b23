import { describe, expect, it } from 'vitest';
import { renderCsv } from './csv.ts';

describe('CSV', () => {
  it('quotes what would break a row, and leaves the rest as it is', () => {
    const rows = [
      ['name', 'tokens', 'streamed', 'end'],
      ['a, "b"\nc', 12n, true, null],
      ['plain', 0, false, ''],
    ];
    expect(renderCsv(rows)).toBe('name,tokens,streamed,end\r\n"a, ""b""\nc",12,true,\r\nplain,0,false,\r\n');
  });

  it.each(['=1+1', '+1', '-1', '@x', '\tx', '\rx'])('makes %j text for a spreadsheet', (text) => {
    expect(renderCsv([[text]])).toContain(`'${text}`);
  });

  // A spreadsheet of many a country separates by semicolons, whatever the file does, and sees no quotes within a cell.
  it.each([
    ['a;=1+1', "a;'=1+1"],
    ['a; @x;+2', "a; '@x;'+2"],
    ['a\n=1', "a\n'=1"],
    ['a\r-1', "a\r'-1"],
    ['a\t=1', "a\t'=1"],
    ['a,=1', 'a,=1'],
    ['＝1', "'＝1"],
    ['a;b=c', 'a;b=c'],
    ['1;-', "1;'-"],
  ])('makes %j text for a spreadsheet that cuts it elsewhere', (text, told) => {
    const cell = renderCsv([[text]]).trimEnd();
    expect(cell.startsWith('"') ? cell.slice(1, -1) : cell).toBe(told);
  });

  it('is empty without rows', () => {
    expect(renderCsv([])).toBe('');
  });
});
