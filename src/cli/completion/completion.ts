// `umpire completion bash|zsh|fish`: a script for the shell, made from the table of commands. It holds the ids of the models
// that are configured when it is made, so that no key press starts a process of ours.

import { findNearest } from '../../domain/near-miss.ts';
import { type Command, type CommandArguments, UsageError } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import type { Program } from '../program.ts';
import { bashScript } from './bash-script.ts';
import { type CompletionTree, makeCompletionTree } from './completion-tree.ts';
import { fishScript } from './fish-script.ts';
import { zshScript } from './zsh-script.ts';

const SCRIPTS: Readonly<Record<string, (tree: CompletionTree) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};
const SHELLS = Object.keys(SCRIPTS);

/** @param listCommands the table that it stands in itself */
export function createCompletionCommand(listCommands: () => readonly Command[]): Command {
  return {
    name: 'completion',
    group: 'shell',
    summary: 'Print a script that completes commands, options and values',
    usage: SHELLS.join('|'),
    options: {},
    operands: SHELLS,
    notes:
      'Commands and options, files, and values where they are known: scopes, settings, ids of the models configured now.',
    examples: [
      { text: 'bash: in ~/.bashrc', command: 'source <(umpire completion bash)', untested: 'needs bash' },
      { text: 'zsh: in ~/.zshrc, after compinit', command: 'source <(umpire completion zsh)', untested: 'needs zsh' },
      { text: 'fish', command: 'umpire completion fish > ~/.config/fish/completions/umpire.fish' },
    ],
    async run(given, program) {
      const script = readShell(given);
      const modelIds = await findModelIds(given, program);
      const { settingFlags } = program;
      program.writeOut(script(makeCompletionTree({ commands: listCommands(), settingFlags, modelIds })));
      return EXIT.done;
    },
  };
}

function readShell({ positionals }: CommandArguments): (tree: CompletionTree) => string {
  const [shell = '', ...others] = positionals;
  const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
  if (script !== undefined && others.length === 0) return script;
  const nearest = findNearest(shell, SHELLS);
  throw new UsageError(
    `completion takes one shell: ${SHELLS.join(', ')}.${nearest === undefined || script !== undefined ? '' : ` Did you mean ${nearest}?`}`,
  );
}

/** A faulty configuration must not break the start of a shell. */
async function findModelIds({ settings }: CommandArguments, program: Program): Promise<readonly string[]> {
  try {
    return await program.listModelIds(settings);
  } catch (error) {
    if (program.findFailure(error) === undefined) throw error;
    return [];
  }
}
