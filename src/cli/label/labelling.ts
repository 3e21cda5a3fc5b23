// One sitting: what is asked, what was answered, passed over and taken back. Knows nothing of keys and screens.

import { answerNames } from '../../quality/gold.ts';
import type { LabelledRow } from '../../quality/labelled-row.ts';
import type { AnswerFile } from './answer-file.ts';
import { keyOfItem, keyOfQuestion } from './item-key.ts';
import type { LabelMemory } from './label-memory.ts';
import { certaintyMargin, RowOrder } from './next-row.ts';
import type { OpenQuestion, OpenRow } from './open-rows.ts';
import type { DocumentReading } from './row-reader.ts';

/** A row that the model has read. */
export interface ReadRow {
  readonly row: OpenRow;
  readonly reading: DocumentReading;
}

/** What the person sees. */
export interface CurrentItem {
  readonly state: string;
  readonly question: OpenQuestion;
  /** Of the document's questions, from 0. */
  readonly at: number;
  readonly questionsOfRow: number;
  /** `[options]`, of the model. */
  readonly probabilities: readonly number[];
  /** `[options]`, answers so far to this question. */
  readonly answers: readonly number[];
}

export interface LabellingParts {
  /** Each document once. */
  readonly rows: readonly ReadRow[];
  readonly file: Pick<AnswerFile, 'append' | 'removeLast'>;
  readonly memory: Pick<LabelMemory, 'passed' | 'keepPassed' | 'forgetPassed'>;
  /** The lines of the file. */
  readonly written: readonly LabelledRow[];
}

/** One question about one document. */
interface Item {
  readonly key: string;
  /** Place of its row. */
  readonly place: number;
  /** Place of its question in the row. */
  readonly at: number;
  readonly asked: OpenQuestion;
}

interface Done {
  readonly item: Item;
  /** Name of the option; undefined: it was passed over. */
  readonly answer: string | undefined;
}

export class Labelling {
  readonly #rows: readonly ReadRow[];
  readonly #file: LabellingParts['file'];
  readonly #memory: LabellingParts['memory'];
  readonly #order: RowOrder;
  /** `[rows][questions]` */
  readonly #items: readonly (readonly Item[])[];
  readonly #answered = new Set<string>();
  readonly #passed: Set<string>;
  /** By question, then by option. */
  readonly #counts = new Map<string, Map<string, number>>();
  /** What can be taken back, the last one first to go: what earlier sittings wrote, then all of this one. */
  readonly #done: Done[];
  #current: Item | undefined;
  #answersNow = 0;

  constructor({ rows, file, memory, written }: LabellingParts) {
    this.#rows = rows;
    this.#file = file;
    this.#memory = memory;
    this.#items = rows.map(({ row: { state, questions } }, place) =>
      questions.map((asked, at) => ({ key: keyOfItem(state, asked.question), place, at, asked })),
    );
    this.#order = new RowOrder(
      rows.map(({ reading: { probabilities, vector } }) => ({
        margin: Math.min(...probabilities.map(certaintyMargin)),
        vector,
      })),
    );
    const answers = written.flatMap(readWrittenAnswers);
    for (const { key, question, answer } of answers) {
      this.#answered.add(key);
      this.#count(question, answer, 1);
    }
    this.#passed = new Set(memory.passed);
    this.#done = this.#findEarlier(answers);
    if (this.openItems === 0) this.#forgetPassed();
    this.#current = this.#choose();
  }

  /** undefined: everything is answered or passed over. */
  get current(): CurrentItem | undefined {
    if (this.#current === undefined) return undefined;
    const { place, at, asked } = this.#current;
    const { row, reading } = this.#rows[place] ?? {};
    const counts = this.#counts.get(keyOfQuestion(asked.question));
    return {
      state: row?.state ?? '',
      question: asked,
      at,
      questionsOfRow: row?.questions.length ?? 1,
      probabilities: reading?.probabilities[at] ?? [],
      answers: answerNames(asked.question).map((name) => counts?.get(name) ?? 0),
    };
  }

  /** Answers of this sitting, less those taken back. */
  get answersNow(): number {
    return this.#answersNow;
  }

  /** Questions about documents that the file answers. */
  get answers(): number {
    return this.#answered.size;
  }

  get openItems(): number {
    return this.#countItems((item) => this.#isOpen(item));
  }

  get passedItems(): number {
    return this.#countItems(({ key }) => this.#passed.has(key));
  }

  /** @param option place of it. @throws AnswerFileError; then nothing has changed */
  answer(option: number): void {
    const item = this.#current;
    const row = this.#rows[item?.place ?? -1]?.row;
    if (item === undefined || row === undefined) return;
    const { name, question } = item.asked;
    const names = answerNames(question);
    const target = names.map((_, place) => (place === option ? 1 : 0));
    this.#file.append([{ id: row.id, state: row.state, name, question, target }]);
    const answer = names[option] ?? '';
    this.#answered.add(item.key);
    this.#count(question, answer, 1);
    this.#answersNow++;
    this.#done.push({ item, answer });
    this.#current = this.#choose(item.place);
  }

  /** Not asked again before everything else is answered. */
  pass(): void {
    const item = this.#current;
    if (item === undefined) return;
    this.#memory.keepPassed(item.key);
    this.#passed.add(item.key);
    this.#done.push({ item, answer: undefined });
    this.#current = this.#choose(item.place);
  }

  /** Asks again what was done last. @returns false: there is nothing. @throws AnswerFileError; then nothing has changed */
  undo(): boolean {
    const last = this.#done.at(-1);
    if (last === undefined) return false;
    const { item, answer } = last;
    if (answer === undefined) {
      this.#memory.forgetPassed(item.key);
      this.#passed.delete(item.key);
    } else {
      this.#file.removeLast();
      this.#answered.delete(item.key);
      this.#count(item.asked.question, answer, -1);
      this.#answersNow--;
    }
    this.#done.pop();
    this.#current = item;
    return true;
  }

  /** The other questions about the same document first: it has just been read. */
  #choose(place = -1): Item | undefined {
    const next = (this.#items[place] ?? []).find((item) => this.#isOpen(item));
    if (next !== undefined) return next;
    const open = this.#placesOf((item) => this.#isOpen(item));
    const chosen = this.#order.next(
      open,
      this.#placesOf((item) => !this.#isOpen(item)),
    );
    return (this.#items[chosen ?? -1] ?? []).find((item) => this.#isOpen(item));
  }

  #isOpen({ key }: Item): boolean {
    return !this.#answered.has(key) && !this.#passed.has(key);
  }

  #placesOf(isWanted: (item: Item) => boolean): number[] {
    return this.#items.flatMap((items, place) => (items.some(isWanted) ? [place] : []));
  }

  #countItems(isWanted: (item: Item) => boolean): number {
    return this.#items.flat().filter(isWanted).length;
  }

  #count(question: OpenQuestion['question'], answer: string, by: number): void {
    const key = keyOfQuestion(question);
    const counts = this.#counts.get(key) ?? new Map<string, number>();
    counts.set(answer, (counts.get(answer) ?? 0) + by);
    this.#counts.set(key, counts);
  }

  /** Lines at the end of the file that a person wrote about these rows. */
  #findEarlier(answers: readonly WrittenAnswer[]): Done[] {
    const items = new Map(this.#items.flat().map((item) => [item.key, item]));
    const lines = Map.groupBy(answers, ({ key }) => key);
    const done: Done[] = [];
    for (const { key, answer, isAlone } of answers.toReversed()) {
      const item = items.get(key);
      const isOnly = isAlone && lines.get(key)?.length === 1;
      if (item === undefined || !isOnly || item.asked.target !== undefined) break;
      done.unshift({ item, answer });
    }
    return done;
  }

  #forgetPassed(): void {
    for (const key of this.#passed) this.#memory.forgetPassed(key);
    this.#passed.clear();
  }
}

interface WrittenAnswer {
  readonly key: string;
  readonly question: OpenQuestion['question'];
  /** Name of the option. */
  readonly answer: string;
  /** Whether its line holds nothing else. */
  readonly isAlone: boolean;
}

function readWrittenAnswers({ state, questions }: LabelledRow): WrittenAnswer[] {
  return questions.map(({ question, names, target }) => ({
    key: keyOfItem(state, question),
    question,
    answer: names[target.indexOf(Math.max(...target))] ?? '',
    isAlone: questions.length === 1,
  }));
}
