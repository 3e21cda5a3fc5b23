// Notes of a release: the section of its version, cut out of CHANGELOG.md in the working folder.
// node packaging/release-notes.mjs v1.2.3; exits 1 where the tag is not the version of package.json or has no section.

import { readFileSync } from 'node:fs';

const HEADING = /^## +\[?([^\]\s]+)\]?/;
/** What goes on with the list item before it. */
const CONTINUATION = /^ {2,}(?![-*] )\S/;

/** @returns the lines between the heading of the version and the next one; undefined: there is no such heading */
function findSection(changelog, version) {
  const lines = changelog.split(/\r?\n/);
  const start = lines.findIndex((line) => HEADING.exec(line)?.[1] === version);
  if (start === -1) return undefined;
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => HEADING.test(line));
  return rest.slice(0, end === -1 ? rest.length : end);
}

/** One line each: the page of a release breaks its lines where the text has a line break, unlike the file. */
function joinItems(lines) {
  const joined = [];
  let isCode = false;
  for (const line of lines) {
    const isFence = /^ *```/.test(line);
    if (!isCode && !isFence && CONTINUATION.test(line) && joined.at(-1)?.trim()) {
      joined.push(`${joined.pop()} ${line.trim()}`);
    } else joined.push(line);
    isCode = isCode !== isFence;
  }
  return joined;
}

function writeNotes(tag) {
  const version = tag.replace(/^v/, '');
  const own = JSON.parse(readFileSync('package.json', 'utf8')).version;
  if (version !== own) throw new Error(`${tag} is not the version of package.json, ${own}`);
  const section = findSection(readFileSync('CHANGELOG.md', 'utf8'), version);
  if (section === undefined) throw new Error(`CHANGELOG.md has no section "## ${version}"`);
  const notes = joinItems(section).join('\n').trim();
  if (notes === '') throw new Error(`the section "## ${version}" of CHANGELOG.md is empty`);
  return notes;
}

const [tag, ...others] = process.argv.slice(2);
try {
  if (tag === undefined || others.length > 0) throw new Error('one tag is wanted, as in release-notes v1.2.3');
  process.stdout.write(`${writeNotes(tag)}\n`);
} catch (error) {
  process.stderr.write(`release-notes: ${error.message}\n`);
  process.exitCode = 1;
}
