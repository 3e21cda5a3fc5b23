// The shape of a command, and the reading of its arguments: its own options beside the settings every command takes. What
// help, completion and docs/cli.md say is taken from these same objects.

import { type ParseArgsOptionDescriptor, parseArgs } from 'node:util';
import { messageOf } from '../domain/errors.ts';
import { findNearest } from '../domain/near-miss.ts';
import type { CommandGroup } from './command-groups.ts';
import type { ExitCode } from './exit-codes.ts';
import type { Program } from './program.ts';
import type { SettingFlags } from './setting-flags.ts';
import type { ValueKind } from './value-kind.ts';

export interface CommandOption {
  readonly type: 'string' | 'boolean';
  readonly help: string;
  readonly multiple?: boolean;
  /** Shown in help: `--expires 30d`. */
  readonly example?: string;
  /** Absent: any text. */
  readonly values?: ValueKind;
}

export interface CommandExample {
  /** What it does, in a few words. */
  readonly text: string;
  /** As typed into a POSIX shell. */
  readonly command: string;
  /** Why no test runs it. Absent: a test does. */
  readonly untested?: string;
}

/** What `--json` prints: one object, or a list of them. */
export interface JsonShape {
  readonly isList: boolean;
  /** Names of its members in their order; some are left out where there is nothing to say. */
  readonly members: readonly string[];
}

export type Token =
  | { readonly kind: 'option'; readonly name: string; readonly value: string | undefined }
  | { readonly kind: 'positional'; readonly value: string };

export interface CommandArguments {
  readonly options: Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;
  readonly positionals: readonly string[];
  /** Options and positionals in the order they were given. */
  readonly tokens: readonly Token[];
  readonly settings: SettingFlags;
}

export interface Command {
  /** `keys create` */
  readonly name: string;
  readonly group: CommandGroup;
  readonly summary: string;
  /** What follows the name in the usage line. */
  readonly usage: string;
  readonly options: Readonly<Record<string, CommandOption>>;
  /** What its words beside options are. Absent: it takes none, or any text. */
  readonly operands?: ValueKind;
  /** Lines after the options: formats, hazards. */
  readonly notes?: string;
  readonly examples: readonly CommandExample[];
  /** Of a command that has `--json`. */
  readonly json?: JsonShape;
  /** What an exit code means here, where that is more than everywhere. */
  readonly exits?: Readonly<Partial<Record<ExitCode, string>>>;
  /** Whether help lists every setting. */
  readonly showsSettings?: boolean;
  run(given: CommandArguments, program: Program): Promise<ExitCode>;
}

/** A mistake in the command line: exit 2, with the usage. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  /** Lines for people, before what is wrong. */
  readonly help: string | undefined;

  constructor(message: string, help?: string) {
    super(message);
    this.help = help;
  }
}

/** @throws UsageError */
export function parseCommandLine(command: Command, args: readonly string[], program: Program): CommandArguments {
  const settingNames = program.settingFlags.map(({ name }) => name).filter((name) => !(name in command.options));
  const { values, positionals, tokens } = parseStrictly(args, parserOptions(command, program, settingNames));
  const settings = Object.fromEntries(
    settingNames.map((name) => [name, values[name] === undefined ? undefined : String(values[name])]),
  );
  return { options: values, positionals, tokens, settings };
}

/** @throws UsageError */
export function refusePositionals({ positionals }: CommandArguments): void {
  if (positionals.length > 0) throw new UsageError(`There is nothing to do with "${positionals[0]}".`);
}

function parserOptions(command: Command, program: Program, settingNames: readonly string[]) {
  const options: Record<string, ParseArgsOptionDescriptor> = { help: { type: 'boolean', short: 'h' } };
  for (const { name, type } of program.settingFlags) if (settingNames.includes(name)) options[name] = { type };
  for (const [name, { type, multiple }] of Object.entries(command.options)) {
    options[name] = { type, multiple: multiple ?? false };
  }
  return options;
}

function parseStrictly(args: readonly string[], options: Record<string, ParseArgsOptionDescriptor>) {
  try {
    const { values, positionals, tokens } = parseArgs({
      args: [...args],
      options,
      allowPositionals: true,
      allowNegative: true,
      tokens: true,
    });
    return { values, positionals, tokens: tokens.flatMap(toToken) };
  } catch (error) {
    throw new UsageError(describeParseFailure(error, Object.keys(options)));
  }
}

/** Node's own advice on unknown options speaks of positional arguments, which is never what was meant. */
function describeParseFailure(error: unknown, names: readonly string[]): string {
  const message = messageOf(error);
  const [known, unknown] = /^Unknown option '(--?[^']*)'/.exec(message) ?? [];
  if (known === undefined || unknown === undefined) return message;
  const nearest = findNearest(unknown.replace(/^--?(no-)?/, ''), names);
  return `${known}.${nearest === undefined ? '' : ` Did you mean --${nearest}?`}`;
}

function toToken(token: { kind: string; name?: string; value?: string | boolean | undefined }): Token[] {
  const value = typeof token.value === 'string' ? token.value : undefined;
  if (token.kind === 'option' && token.name !== undefined) return [{ kind: 'option', name: token.name, value }];
  return token.kind === 'positional' && value !== undefined ? [{ kind: 'positional', value }] : [];
}
