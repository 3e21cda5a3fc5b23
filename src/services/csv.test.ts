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

  it('is empty without rows', () => {
    expect(renderCsv([])).toBe('');
  });
});
