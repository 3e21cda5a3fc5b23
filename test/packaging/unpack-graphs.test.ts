// What `npm ci` finds beside a packed graph: nothing, a file of the release before, or one that somebody changed.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';

const SCRIPT = resolve(import.meta.dirname, '../../packaging/unpack-graphs.mjs');
const models = mkdtempSync(join(tmpdir(), 'umpire-unpack-'));
const folder = join(models, 'one');
const plain = join(folder, 'weights.bin');
afterAll(() => rmSync(models, { recursive: true, force: true }));

function sums(content: string, name = 'weights.bin'): void {
  writeFileSync(join(folder, 'SHA256SUMS'), `${createHash('sha256').update(content).digest('hex')}  ${name}\n`);
}

function unpacked(): string {
  execFileSync(process.execPath, [SCRIPT, models]);
  return readFileSync(plain, 'utf8');
}

describe('packed graphs and weights', () => {
  beforeEach(() => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    writeFileSync(`${plain}.gz`, gzipSync('new'));
    sums('new');
  });

  it('are unpacked beside themselves, and nothing else is left there', () => {
    expect(unpacked()).toBe('new');
    expect(readdirSync(folder).sort()).toEqual(['SHA256SUMS', 'weights.bin', 'weights.bin.gz']);
  });

  it('take the place of what the release before left', () => {
    writeFileSync(plain, 'old');
    expect(unpacked()).toBe('new');
  });

  it('leave alone what somebody wrote with its sum', () => {
    writeFileSync(plain, 'own');
    sums('own');
    expect(unpacked()).toBe('own');
  });

  it('leave alone what has no sum, or a sum that the packed file has not either', () => {
    writeFileSync(plain, 'own');
    sums('other');
    expect(unpacked()).toBe('own');
    sums('new', 'another.bin');
    expect(unpacked()).toBe('own');
    rmSync(join(folder, 'SHA256SUMS'));
    expect(unpacked()).toBe('own');
  });

  it('of any other kind stay packed', () => {
    writeFileSync(join(folder, 'tokenizer.json.gz'), gzipSync('{}'));
    unpacked();
    expect(existsSync(join(folder, 'tokenizer.json'))).toBe(false);
  });
});
