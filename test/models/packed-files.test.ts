// What lies packed in the shipped model folders is what their sums say: the plain graphs beside are not under version control.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';

const sumOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

describe.each(['kev', 'text-embed-mini'])('%s', (id) => {
  const folder = fileURLToPath(new URL(`../../models/${id}`, import.meta.url));
  const listed = new Map(
    readFileSync(join(folder, 'SHA256SUMS'), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => [line.slice(66), line.slice(0, 64)]),
  );
  const packed = readdirSync(folder).filter((name) => name.endsWith('.gz'));

  it.each(packed)('%s holds what its sum says, and so does a plain file beside it', (name) => {
    const plain = name.slice(0, -'.gz'.length);
    expect(sumOf(gunzipSync(readFileSync(join(folder, name))))).toBe(listed.get(plain));
    if (existsSync(join(folder, plain))) expect(sumOf(readFileSync(join(folder, plain)))).toBe(listed.get(plain));
  });

  it('lists every file that is there, and no other', () => {
    const found = readdirSync(folder).filter((name) => name !== 'README.md' && name !== 'SHA256SUMS');
    expect([...new Set(found.map((name) => name.replace(/\.gz$/, '')))].sort()).toEqual([...listed.keys()].sort());
  });
});
