// The answers of a person on disk: a labelled file with one answer on each line, written and flushed before the next
// question is shown. An answer that is taken back is cut off its end.

import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  statSync,
  writeSync,
} from 'node:fs';
import { messageOf } from '../../domain/errors.ts';
import type { Question } from '../../domain/question.ts';
import { LabelledFileError, type LabelledRow, parseLabelledRows } from '../../quality/labelled-row.ts';
import { writeQuestion } from '../../quality/wire-question.ts';

const LINE_FEED = 0x0a;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export interface GivenAnswer {
  readonly id: string | number | undefined;
  readonly state: string;
  readonly name: string;
  readonly question: Question;
  /** `[options]`, shares. */
  readonly target: readonly number[];
}

/** The file cannot be written, or is not what it was. Nothing was changed by the call that throws it. */
export class AnswerFileError extends Error {
  override readonly name = 'AnswerFileError';
}

export class AnswerFile {
  readonly #path: string;
  readonly #file: number;
  /** Where each line begins that this process wrote or found, and then where the next one will. */
  readonly #starts: number[];

  private constructor(path: string, file: number, starts: number[]) {
    this.#path = path;
    this.#file = file;
    this.#starts = starts;
  }

  /**
   * Opens it, makes it if need be, and cuts off a line that a killed process left half written.
   * @returns with the lines that are there, in their order
   * @throws AnswerFileError, LabelledFileError when it is no labelled file
   */
  static open(path: string): { file: AnswerFile; rows: readonly LabelledRow[]; repairedBytes: number } {
    const descriptor = translate(path, () => openSync(path, 'a+'));
    try {
      const bytes = translate(path, () => readFileSync(path));
      const kept = endOfWholeLines(bytes);
      const whole = decode(path, bytes.subarray(0, kept));
      const rows = whole.trim() === '' ? [] : parseWritten(path, whole);
      if (kept < bytes.length) translate(path, () => truncate(descriptor, kept));
      const starts = startsOfLines(whole);
      const file = new AnswerFile(path, descriptor, starts);
      if (whole !== '' && !whole.endsWith('\n')) file.#endLine();
      return { file, rows, repairedBytes: bytes.length - kept };
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
  }

  /** @throws AnswerFileError; then nothing of it is in the file */
  append(answers: readonly GivenAnswer[]): void {
    this.#checkUnchanged();
    const start = this.#end;
    let end = start;
    const starts = answers.map((answer) => {
      const line = writeLine(answer);
      end += Buffer.byteLength(line);
      return { line, end };
    });
    this.#write(starts.map(({ line }) => line).join(''), start);
    this.#starts.push(...starts.map((one) => one.end));
  }

  /** Takes the last line back. @throws AnswerFileError */
  removeLast(): void {
    this.#checkUnchanged();
    const start = this.#starts.at(-2);
    if (start === undefined) throw new AnswerFileError(`${this.#path} has no line to take back.`);
    translate(this.#path, () => truncate(this.#file, start));
    this.#starts.pop();
  }

  close(): void {
    closeSync(this.#file);
  }

  get #end(): number {
    return this.#starts.at(-1) ?? 0;
  }

  /** A last line that an editor left without its end. */
  #endLine(): void {
    const start = this.#end;
    this.#write('\n', start);
    this.#starts[this.#starts.length - 1] = start + 1;
  }

  #write(text: string, start: number): void {
    try {
      const bytes = Buffer.from(text);
      for (let done = 0; done < bytes.length; ) done += writeSync(this.#file, bytes, done);
      fdatasyncSync(this.#file);
    } catch (error) {
      // A full disk may have taken a part of it.
      truncate(this.#file, start);
      throw describe(this.#path, error);
    }
  }

  /** An editor that saves it puts another file in its place, and what is written to the old one would be lost. */
  #checkUnchanged(): void {
    const own = fstatSync(this.#file);
    const there = statSync(this.#path, { throwIfNoEntry: false });
    if (there === undefined || there.ino !== own.ino || there.dev !== own.dev || own.size !== this.#end) {
      throw new AnswerFileError(`${this.#path} was changed by somebody else. Quit, and start again.`);
    }
  }
}

/** The last line counts when it is a whole one all but for its end. */
function endOfWholeLines(bytes: Buffer): number {
  const end = bytes.lastIndexOf(LINE_FEED) + 1;
  try {
    JSON.parse(bytes.toString('utf8', end));
    return bytes.length;
  } catch {
    return end;
  }
}

function decode(path: string, bytes: Buffer): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new LabelledFileError(`${path} is not a file of labelled rows: it is not valid UTF-8.`);
  }
}

function parseWritten(path: string, text: string): readonly LabelledRow[] {
  try {
    return parseLabelledRows(text);
  } catch (error) {
    if (!(error instanceof LabelledFileError)) throw error;
    throw new LabelledFileError(`${path} is not a file of labelled rows:\n${error.message}`);
  }
}

/** Of every line, and one past the last; in bytes. */
function startsOfLines(text: string): number[] {
  const starts = [0];
  for (const line of text.split(/(?<=\n)/)) {
    if (line !== '') starts.push((starts.at(-1) ?? 0) + Buffer.byteLength(line));
  }
  return starts;
}

function writeLine({ id, state, name, question, target }: GivenAnswer): string {
  const own = id === undefined ? '' : `"id":${JSON.stringify(id)},`;
  // A question's text ends with its brace.
  const asked = `${writeQuestion(question).slice(0, -1)},${writeRight(question, target)}}`;
  return `{${own}"state":${JSON.stringify(state)},"questions":{${JSON.stringify(name)}:${asked}}}\n`;
}

function writeRight(question: Question, target: readonly number[]): string {
  const place = target.indexOf(1);
  if (place === -1) return `"soft":${writeShares(question, target)}`;
  return `"gold":${writeGold(question, place)}`;
}

function writeGold(question: Question, place: number): string {
  switch (question.type) {
    case 'choice':
      return JSON.stringify(question.options[place]?.name);
    case 'score':
      return String(place);
    case 'noul':
      return String(place === 1);
  }
}

function writeShares(question: Question, target: readonly number[]): string {
  if (question.type === 'score') return JSON.stringify(target);
  const names = question.type === 'noul' ? ['false', 'true'] : question.options.map(({ name }) => name);
  return `{${names.map((name, place) => `${JSON.stringify(name)}:${target[place] ?? 0}`).join(',')}}`;
}

function truncate(file: number, bytes: number): void {
  ftruncateSync(file, bytes);
  fdatasyncSync(file);
}

function translate<T>(path: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw describe(path, error);
  }
}

function describe(path: string, error: unknown): AnswerFileError {
  return new AnswerFileError(`${path} cannot be written: ${messageOf(error)}.`);
}
