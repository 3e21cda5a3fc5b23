// Completion for fish, with what each word is for.

import {
  type CompletionTree,
  hidesSetting,
  listWords,
  type Offer,
  type OfferedCommand,
  type OfferedOption,
} from './completion-tree.ts';

export function fishScript(tree: CompletionTree): string {
  const words = listWords(tree);
  const lines = [...words].flatMap(([first, seconds]) => {
    const summary = tree.commands.find(({ name }) => name === first)?.summary ?? seconds.join(', ');
    return [line('__umpire_stands_at', `-a ${first} -d ${quote(summary)}`), ...groupLines(first, seconds, tree)];
  });
  return `# Completion of umpire for fish: umpire completion fish | source
function __umpire_stands_at
    set -l given (commandline -opc)
    test "$given[2..]" = "$argv"
end
function __umpire_is
    set -l given (commandline -opc)
    test (count $given) -gt (count $argv); and test "$given[2..$(math 1 + (count $argv))]" = "$argv"
end
complete -c umpire -f
${lines.join('\n')}
${line('__umpire_stands_at', `-a help -d ${quote('Help for a command')}`)}
${line('__umpire_stands_at help', `-a ${quote([...words.keys(), 'exit-codes'].join(' '))}`)}
${tree.commands.flatMap(commandLines).join('\n')}
${tree.settings.map((setting) => settingLine(setting, tree)).join('\n')}
`;
}

function groupLines(first: string, seconds: readonly string[], { commands }: CompletionTree): string[] {
  return seconds.map((second) => {
    const summary = commands.find(({ name }) => name === `${first} ${second}`)?.summary ?? '';
    return line(`__umpire_stands_at ${first}`, `-a ${second} -d ${quote(summary)}`);
  });
}

function settingLine(setting: OfferedOption, { commands }: CompletionTree): string {
  const hiding = commands.filter((command) => hidesSetting(command, setting));
  const others = hiding.map(({ name }) => `; and not __umpire_is ${name}`);
  return line(`not __umpire_stands_at${others.join('')}`, optionFlags(setting));
}

function commandLines(command: OfferedCommand): string[] {
  const when = `__umpire_is ${command.name}`;
  const options = command.options.map((option) => line(when, optionFlags(option)));
  const operands = command.operands === 'none' ? [] : [line(when, valueFlags(command.operands))];
  return [...operands, ...options];
}

function optionFlags({ name, help, takesValue, values }: OfferedOption): string {
  const value = takesValue ? ` -r ${valueFlags(values)}` : '';
  return `-l ${name} -d ${quote(help)}${value}`;
}

function valueFlags(values: Offer): string {
  if (values === 'file') return '-F';
  if (values === 'folder') return "-f -a '(__fish_complete_directories)'";
  return values === 'none' ? '-f' : `-f -a ${quote(values.join(' '))}`;
}

function line(when: string, flags: string): string {
  return `complete -c umpire -n ${quote(when)} ${flags}`;
}

function quote(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`;
}
