// What a release says of itself is its section of the changelog, and a tag that is not the version is refused.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

const SCRIPT = resolve(import.meta.dirname, '../../packaging/release-notes.mjs');
const folder = mkdtempSync(join(tmpdir(), 'umpire-notes-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const CHANGELOG = `# Changelog

All notable changes.

## Unreleased

- Not yet.

## [0.10.0] - 2026-12-24

## 0.2.0 (2026-12-01)

### Added
- A thing that takes
  two lines,
  or three.
  - A part of it.
- Another:
  \`\`\`sh
  # as it is typed
  umpire serve
  \`\`\`

### Fixed
- 0.1.0 said \`## 0.1.0\`.

## 0.1.0 (2026-11-22)
- First.
`;

function notes(args: readonly string[], { changelog = CHANGELOG, version = '0.2.0' } = {}) {
  writeFileSync(join(folder, 'CHANGELOG.md'), changelog);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ version }));
  const { stdout, stderr, status } = spawnSync(process.execPath, [SCRIPT, ...args], { cwd: folder, encoding: 'utf8' });
  return { stdout, stderr, status };
}

const OF_0_2_0 = `### Added
- A thing that takes two lines, or three.
  - A part of it.
- Another:
  \`\`\`sh
  # as it is typed
  umpire serve
  \`\`\`

### Fixed
- 0.1.0 said \`## 0.1.0\`.
`;

describe('the notes of a release', () => {
  it.each(['v0.2.0', '0.2.0'])('are the section of its version, an item a line (%s)', (tag) => {
    expect(notes([tag])).toEqual({ stdout: OF_0_2_0, stderr: '', status: 0 });
  });

  it('are the same from a file with the line ends of Windows', () => {
    expect(notes(['v0.2.0'], { changelog: CHANGELOG.replaceAll('\n', '\r\n') }).stdout).toBe(OF_0_2_0);
  });

  it('end with the file for the first of all', () => {
    expect(notes(['v0.1.0'], { version: '0.1.0' }).stdout).toBe('- First.\n');
  });
});

it.each([
  ['a tag that is not the version', ['v0.1.0'], '0.2.0', 'v0.1.0 is not the version of package.json, 0.2.0'],
  ['a version without a section', ['v0.3.0'], '0.3.0', 'CHANGELOG.md has no section "## 0.3.0"'],
  ['a part of a version', ['v0.2'], '0.2', 'CHANGELOG.md has no section "## 0.2"'],
  ['an empty section', ['v0.10.0'], '0.10.0', 'the section "## 0.10.0" of CHANGELOG.md is empty'],
  ['no tag', [], '0.2.0', 'one tag is wanted, as in release-notes v1.2.3'],
] as const)('%s is refused', (_name, args, version, reason) => {
  expect(notes(args, { version })).toEqual({ stdout: '', stderr: `release-notes: ${reason}\n`, status: 1 });
});
