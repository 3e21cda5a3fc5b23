// Completion for zsh, with what each word is for.

import {
  type CompletionTree,
  hidesSetting,
  listWords,
  type Offer,
  type OfferedCommand,
  type OfferedOption,
} from './completion-tree.ts';

export function zshScript(tree: CompletionTree): string {
  const words = listWords(tree);
  const groups = [...words].filter(([, seconds]) => seconds.length > 0);
  return `#compdef umpire
# Completion of umpire for zsh: source <(umpire completion zsh), or in a file _umpire of $fpath
_umpire() {
  local -a offered settings
  local command=$words[2] taken=2
  if ((CURRENT == 2)); then
    offered=(${[...words].map(([first, seconds]) => described(first, summaryOf(first, seconds, tree))).join(' ')} 'help:Help for a command')
    _describe command offered
    return
  fi
  case $command in
    help)
      ((CURRENT == 3)) && { offered=(${[...words.keys(), 'exit-codes'].join(' ')}); _describe command offered }
      return ;;
${groups.map(([first, seconds]) => groupCase(first, seconds, tree)).join('\n')}
  esac
  settings=(
${tree.settings.map((setting) => `    ${optionSpec(setting)}`).join('\n')}
  )
  shift $((taken - 1)) words
  ((CURRENT -= taken - 1))
  case $command in
${tree.commands.map((command) => commandCase(command, tree)).join('\n')}
  esac
}
if [[ $funcstack[1] == _umpire ]]; then _umpire "$@"; else compdef _umpire umpire; fi
`;
}

function summaryOf(first: string, seconds: readonly string[], { commands }: CompletionTree): string {
  return seconds.length > 0 ? seconds.join(', ') : (commands.find(({ name }) => name === first)?.summary ?? '');
}

function groupCase(first: string, seconds: readonly string[], { commands }: CompletionTree): string {
  const offered = seconds.map((second) =>
    described(second, commands.find(({ name }) => name === `${first} ${second}`)?.summary ?? ''),
  );
  return `    ${first})
      if ((CURRENT == 3)); then offered=(${offered.join(' ')}); _describe command offered; return; fi
      command+=" $words[3]" taken=3 ;;`;
}

function commandCase(command: OfferedCommand, { settings }: CompletionTree): string {
  const options = command.options.map(optionSpec);
  const hidden = settings.filter((setting) => hidesSetting(command, setting)).map(({ name }) => `--${name}[=[]*`);
  const others = `"\${(@)settings:#${hidden.length === 0 ? '' : `(${hidden.join('|')})`}}"`;
  const operands = command.operands === 'none' ? [] : [quote(`*:value:${action(command.operands)}`)];
  return `    '${command.name}') _arguments ${[...options, others, quote('--help[Show help]'), ...operands].join(' ')} ;;`;
}

function optionSpec({ name, help, takesValue, isMultiple, values }: OfferedOption): string {
  const text = help.replace(/[[\]:\\]/g, '\\$&');
  const value = takesValue ? `=[${text}]:${name}:${action(values)}` : `[${text}]`;
  return quote(`${isMultiple ? '*' : ''}--${name}${value}`);
}

function action(values: Offer): string {
  if (values === 'file') return '_files';
  if (values === 'folder') return '_files -/';
  return values === 'none' ? ' ' : `(${values.map((value) => value.replaceAll(':', '\\:')).join(' ')})`;
}

function described(word: string, text: string): string {
  return quote(`${word}:${text}`);
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
