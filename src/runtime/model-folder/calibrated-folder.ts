// Puts other temperatures into the folder of a decision model of any family: manifest, golden answers (which stand after
// temperatures) and checksums.
// Graphs and everything else stay as they are. Which temperatures are right is not decided here.

import { createHash, randomUUID } from 'node:crypto';
import { open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../domain/errors.ts';
import { softmax, type Temperatures, temperatureOf } from '../../domain/temperature.ts';
import { StartError } from '../start-error.ts';
import { packedName, readFolderFile } from './folder-file.ts';
import { type DecisionCase, type GoldenFile, toQuestion } from './golden.ts';
import type { DecisionManifest, ModelFolder } from './manifest.ts';
import { readModelFolder } from './model-folder.ts';

/** As golden answers are written: nine significant digits. */
const GOLDEN_DIGITS = 9;

export type DecisionFolder = ModelFolder & { readonly manifest: DecisionManifest };

export function isDecisionFolder(folder: ModelFolder): folder is DecisionFolder {
  return folder.manifest.type === 'decision';
}

/**
 * The text of the folder's manifest with other temperatures, and `calibrated` where it has that; everything around them
 * byte for byte.
 */
export async function renderManifest({ path, manifest }: DecisionFolder, temperatures: Temperatures): Promise<string> {
  const text = replaceMember(await readText(path, 'model.json'), 'temperatures', temperatures);
  return 'calibrated' in manifest ? replaceMember(text, 'calibrated', true) : text;
}

/**
 * Each file is replaced as a whole, after all of them have been written beside the old ones.
 * @returns the folder as it is now, verified
 * @throws StartError when the folder cannot be written; it is then as it was
 */
export async function writeTemperatures(folder: DecisionFolder, temperatures: Temperatures): Promise<ModelFolder> {
  const { path, manifest } = folder;
  const golden = await readText(path, 'golden.json');
  const files = new Map([
    ['golden.json', rescaleGolden(golden, manifest.temperatures, temperatures)],
    ['model.json', await renderManifest(folder, temperatures)],
  ]);
  files.set('SHA256SUMS', replaceSums(await readText(path, 'SHA256SUMS'), files));
  try {
    await replaceFiles(path, files);
  } catch (error) {
    const reason = messageOf(error);
    throw new StartError(`model folder ${path} cannot be written: ${reason}. Copy the folder and calibrate the copy.`);
  }
  return await readModelFolder(path);
}

async function readText(folder: string, name: string): Promise<string> {
  return (await readFolderFile(folder, name)).toString();
}

/** @param text a manifest. @returns it with another value of one of its members, indented as the old one was */
export function replaceMember(text: string, name: string, value: Temperatures | boolean): string {
  const { start, end, indent } = findMember(text, name);
  const isOneLine = !text.slice(start, end).includes('\n');
  const written = isOneLine ? JSON.stringify(value) : JSON.stringify(value, null, 2).replaceAll('\n', `\n${indent}`);
  return text.slice(0, start) + written + text.slice(end);
}

interface MemberSpan {
  /** Of the value, end exclusive. */
  readonly start: number;
  readonly end: number;
  /** Of the line the name stands on. */
  readonly indent: string;
}

/** Where a member of the outermost object has its value. @param text valid JSON with an object that has it */
function findMember(text: string, name: string): MemberSpan {
  const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],]/g;
  let depth = 0;
  let found: { start: number; indent: string } | undefined;
  for (const { 0: token, index } of text.matchAll(tokens)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    else if (token !== ',' && depth === 1 && found === undefined && token === JSON.stringify(name)) {
      const colon = /\s*:\s*/y;
      colon.lastIndex = index + token.length;
      // Without a colon it is a value that reads the same.
      if (colon.test(text)) found = { start: colon.lastIndex, indent: /[ \t]*$/.exec(text.slice(0, index))?.[0] ?? '' };
    }
    const isOver = token === ',' ? depth === 1 : depth === 0;
    if (found !== undefined && isOver && index > found.start) {
      return { ...found, end: found.start + text.slice(found.start, index).trimEnd().length };
    }
  }
  throw new StartError(`model.json: there is no "${name}"`);
}

/**
 * Golden answers for other temperatures: softmax(log p × old / new), which is what the same logits give. They still tell
 * a device that computes other numbers.
 */
export function rescaleGolden(text: string, from: Temperatures, to: Temperatures): string {
  const file = JSON.parse(text) as GoldenFile<DecisionCase>;
  const cases = file.cases.map(({ probabilities, ...golden }) => {
    const types = golden.questions.map((raw) => toQuestion(raw).type);
    const rescale = (answer: readonly number[], place: number): readonly number[] => {
      const type = types[place] ?? 'choice';
      const [before, after] = [from, to].map((temperatures) => temperatureOf(temperatures, type, answer.length));
      if (before === after) return answer;
      const logs = answer.map((probability) => Math.log(probability) * (before ?? 1));
      return softmax(logs, after ?? 1).map((probability) => Number(probability.toPrecision(GOLDEN_DIGITS)));
    };
    const rescaled = Object.entries(probabilities).map(([precision, answers]) => [precision, answers.map(rescale)]);
    return { ...golden, probabilities: Object.fromEntries(rescaled) };
  });
  return `${JSON.stringify({ ...file, cases })}\n`;
}

/** @param files new content by name. @returns the list with their sums, in its order */
function replaceSums(sums: string, files: ReadonlyMap<string, string>): string {
  return sums.replace(/^[0-9a-f]{64}( [ *])(.*)$/gm, (line, separator: string, name: string) => {
    const content = files.get(name);
    return content === undefined ? line : createHash('sha256').update(content).digest('hex') + separator + name;
  });
}

/** SHA256SUMS last: until then the folder does not match it, and does not load. A packed file gives way to a plain one. */
async function replaceFiles(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
  const drafts = [...files].map(([name, content]) => ({
    path: join(folder, name),
    draft: join(folder, `.${name}-${randomUUID()}`),
    content,
  }));
  try {
    for (const { path, draft, content } of drafts) {
      const { mode } = await stat(path).catch(() => stat(packedName(path)));
      await writeDraft(draft, content, mode);
    }
    for (const { path, draft } of drafts) await rename(draft, path);
    for (const { path } of drafts) await rm(packedName(path), { force: true });
  } finally {
    for (const { draft } of drafts) await rm(draft, { force: true });
  }
}

async function writeDraft(path: string, content: string, mode: number): Promise<void> {
  const file = await open(path, 'wx', mode);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}
