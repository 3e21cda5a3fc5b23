// What each key does to a sitting and to what is seen of it. Knows a terminal's size, not the terminal.

import type { Paint } from '../paint.ts';
import { AnswerFileError } from './answer-file.ts';
import type { SittingEnd, View } from './desk.ts';
import type { Labelling } from './labelling.ts';
import { findOption, optionKeys } from './option-keys.ts';
import { renderScreen, type Screen, type ScreenSize, type ScreenView, shownPlaces } from './screen.ts';

export interface SittingOptions {
  readonly labelling: Labelling;
  readonly title: string;
  readonly paint: Paint;
}

type Moved = Pick<ScreenView, 'documentStart' | 'optionStart' | 'typed' | 'search' | 'isSearching' | 'message'>;

const AT_REST: Moved = {
  documentStart: 0,
  optionStart: 0,
  typed: '',
  search: undefined,
  isSearching: false,
  message: '',
};

export class Sitting implements View {
  readonly #options: SittingOptions;
  #moved = AT_REST;
  #screen: Screen | undefined;

  constructor(options: SittingOptions) {
    this.#options = options;
  }

  draw(size: ScreenSize): readonly string[] {
    const { labelling, title, paint } = this.#options;
    const { current: item, answers, openItems } = labelling;
    if (item === undefined) return [];
    this.#screen = renderScreen({ ...this.#moved, item, title, answers, openItems }, size, paint);
    const { document, options } = this.#screen;
    this.#moved = { ...this.#moved, documentStart: document.start, optionStart: options.start };
    return this.#screen.lines;
  }

  /** @param key a character, or the name of a key */
  press(key: string): SittingEnd | undefined {
    // What cannot be seen is not answered.
    if (this.#screen?.isUsable !== true) return key === 'q' ? 'left' : undefined;
    this.#moved = { ...this.#moved, message: '' };
    if (this.#moved.isSearching) this.#search(key);
    else if (this.#moved.typed === '' && key === 'q') return 'left';
    else if (!this.#scroll(key)) this.#act(key);
    return this.#options.labelling.current === undefined ? 'over' : undefined;
  }

  /** @returns whether the key was one that moves */
  #scroll(key: string): boolean {
    const { document, options } = this.#screen ?? {};
    if (document === undefined || options === undefined) return false;
    const isAtEnd = document.start + document.page >= document.total;
    const starts: Readonly<Record<string, number>> = {
      // A line of the page before stays in sight.
      space: isAtEnd ? 0 : document.start + Math.max(1, document.page - 1),
      pagedown: document.start + Math.max(1, document.page - 1),
      pageup: document.start - Math.max(1, document.page - 1),
      down: document.start + 1,
      up: document.start - 1,
      home: 0,
      end: document.total,
    };
    const start = starts[key];
    if (start !== undefined) this.#move({ documentStart: Math.max(0, start) });
    if (key === 'tab') {
      const next = options.start + options.page;
      this.#move({ optionStart: next < options.total ? next : 0 });
    }
    return start !== undefined || key === 'tab';
  }

  #act(key: string): void {
    const { typed } = this.#moved;
    if (key === 's') this.#try(() => this.#options.labelling.pass(), 'Skipped. u takes it back.');
    else if (key === 'u' && typed === '') this.#undo();
    else if (key === 'u' || key === 'backspace') this.#move({ typed: typed.slice(0, -1) });
    else if (key === '/') this.#move({ typed: '', search: '', isSearching: true, optionStart: 0 });
    else if (key === 'escape') this.#move({ typed: '', search: undefined, optionStart: 0 });
    else this.#type(key);
  }

  #type(key: string): void {
    const keys = this.#keys;
    const typed = this.#moved.typed + key.toLowerCase();
    const found = findOption(keys, typed);
    if (found === 'begun') this.#move({ typed });
    else if (found !== undefined) this.#answer(found);
    else if (key.length === 1) this.#move({ typed: '', message: `No answer has the key ${typed}.` });
  }

  get #keys(): readonly string[] {
    const item = this.#options.labelling.current;
    return item === undefined ? [] : optionKeys(item.question.question);
  }

  #answer(option: number): void {
    const message = `Answered ${this.#keys[option]}. u takes it back.`;
    this.#try(() => this.#options.labelling.answer(option), message);
  }

  #undo(): void {
    this.#try(() => {
      if (!this.#options.labelling.undo()) throw new NothingToTakeBack();
    }, 'Taken back.');
  }

  /** Something else is asked then. What cannot be done is told, and all stays as it was. */
  #try(action: () => void, message: string): void {
    try {
      action();
      this.#moved = { ...AT_REST, message };
    } catch (error) {
      if (!(error instanceof AnswerFileError || error instanceof NothingToTakeBack)) throw error;
      this.#move({ typed: '', message: error.message });
    }
  }

  #search(key: string): void {
    const { search = '' } = this.#moved;
    const typed = key === 'space' ? ' ' : key;
    if (key === 'escape') this.#move({ search: undefined, isSearching: false, optionStart: 0 });
    else if (key === 'backspace') this.#move({ search: [...search].slice(0, -1).join(''), optionStart: 0 });
    else if (key === 'enter') this.#endSearch(search);
    else if ([...typed].length === 1) this.#move({ search: search + typed, optionStart: 0 });
  }

  /** The only one that is left is what was meant. */
  #endSearch(search: string): void {
    const item = this.#options.labelling.current;
    const [only, ...others] = item === undefined ? [] : shownPlaces({ item, search });
    if (only !== undefined && others.length === 0) this.#answer(only);
    else if (only === undefined) {
      this.#move({ search: undefined, isSearching: false, message: `No option has "${search}" in it.` });
    } else this.#move({ search: search === '' ? undefined : search, isSearching: false });
  }

  #move(changed: Partial<Moved>): void {
    this.#moved = { ...this.#moved, ...changed };
  }
}

class NothingToTakeBack extends Error {
  override readonly name = 'NothingToTakeBack';

  constructor() {
    super('There is nothing to take back.');
  }
}
