// What completion may offer, from the table of commands: the words, the options of each command, the values of each option.

import type { Command } from '../command.ts';
import type { SettingFlag } from '../setting-flags.ts';
import type { ValueKind } from '../value-kind.ts';

/** Words, or paths; `none`: any text, or nothing. */
export type Offer = readonly string[] | 'file' | 'folder' | 'none';

export interface OfferedOption {
  /** Without dashes. */
  readonly name: string;
  readonly help: string;
  readonly takesValue: boolean;
  readonly isMultiple: boolean;
  readonly values: Offer;
}

export interface OfferedCommand {
  /** `keys create` */
  readonly name: string;
  readonly summary: string;
  readonly operands: Offer;
  /** Its own; those of every command are in `settings`. */
  readonly options: readonly OfferedOption[];
}

export interface CompletionTree {
  readonly commands: readonly OfferedCommand[];
  readonly settings: readonly OfferedOption[];
}

export interface CompletionParts {
  readonly commands: readonly Command[];
  readonly settingFlags: readonly SettingFlag[];
  readonly modelIds: readonly string[];
}

/** A script holds them as they are: what a shell would take for more than a word is left out. */
const PLAIN_WORD = /^[\w.:@/+-]+$/;

export function makeCompletionTree({ commands, settingFlags, modelIds }: CompletionParts): CompletionTree {
  const offer = (kind: ValueKind | undefined): Offer => {
    if (kind === 'model') return modelIds.filter((id) => PLAIN_WORD.test(id));
    return kind ?? 'none';
  };
  return {
    commands: commands.map(({ name, summary, operands, options }) => ({
      name,
      summary,
      operands: offer(operands),
      options: Object.entries(options).map(([option, { type, help, multiple, values }]) => ({
        name: option,
        help,
        takesValue: type === 'string',
        isMultiple: multiple ?? false,
        values: offer(values),
      })),
    })),
    settings: settingFlags.map(({ name, type, help, values }) => ({
      name,
      help,
      takesValue: type === 'string',
      isMultiple: false,
      values: offer(values),
    })),
  };
}

/** First words with the second words that may follow: `keys` → `create`, … */
export function listWords({ commands }: CompletionTree): ReadonlyMap<string, readonly string[]> {
  const words = new Map<string, string[]>();
  for (const { name } of commands) {
    const [first = '', second] = name.split(' ');
    const seconds = words.get(first) ?? [];
    if (second !== undefined) seconds.push(second);
    words.set(first, seconds);
  }
  return words;
}

/** Whether an option of the command hides the setting of this name, which all others take. */
export function hidesSetting({ options }: OfferedCommand, setting: OfferedOption): boolean {
  return options.some(({ name }) => name === setting.name);
}
