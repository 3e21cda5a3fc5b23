// Completion for bash, without the package bash-completion: macOS has neither it nor a newer bash than 3.2.

import { type CompletionTree, listWords, type Offer, type OfferedCommand } from './completion-tree.ts';

export function bashScript(tree: CompletionTree): string {
  const words = listWords(tree);
  const groups = [...words].filter(([, seconds]) => seconds.length > 0);
  return `# Completion of umpire for bash: source <(umpire completion bash)
_umpire_words() { COMPREPLY=($(compgen -W "$1" -- "$current")); }
_umpire_paths() {
  local IFS=$'\\n'
  type compopt > /dev/null 2>&1 && compopt -o filenames
  COMPREPLY=($(compgen "$1" -- "$current"))
}
_umpire() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} command=\${COMP_WORDS[1]} options operands at=2
  COMPREPLY=()
  # --name=value comes as three words.
  if [[ $current == = ]]; then current=''; elif [[ $before == = ]]; then before=\${COMP_WORDS[COMP_CWORD-2]}; fi
  if ((COMP_CWORD == 1)); then _umpire_words '${[...words.keys(), 'help'].join(' ')} --help --version'; return; fi
  case $command in
    help) ((COMP_CWORD == 2)) && _umpire_words '${[...words.keys(), 'exit-codes'].join(' ')}'; command+=" \${COMP_WORDS[2]}"; at=3 ;;
  esac
  case \${COMP_WORDS[at-1]} in
${groups.map(([first, seconds]) => `    ${first}) if ((COMP_CWORD == at)); then _umpire_words '${seconds.join(' ')}'; return; fi; command+=" \${COMP_WORDS[at]}" ;;`).join('\n')}
  esac
  case "$command $before" in
${tree.commands.flatMap(valueCases).join('\n')}
  esac
  case $before in
${tree.settings
  .filter(({ takesValue }) => takesValue)
  .map(({ name, values }) => `    --${name}) ${offer(values)}; return ;;`)
  .join('\n')}
  esac
  case $command in
${tree.commands.map(commandCase).join('\n')}
    *) return ;;
  esac
  if [[ $current == -* ]]; then _umpire_words "$options ${tree.settings.map(({ name }) => `--${name}`).join(' ')} --help"; return; fi
  case $operands in
    '') [[ -z $current ]] && _umpire_words "$options" ;;
    -f | -d) _umpire_paths "$operands" ;;
    *) _umpire_words "$operands" ;;
  esac
}
complete -F _umpire umpire
`;
}

function valueCases({ name, options }: OfferedCommand): string[] {
  return options
    .filter(({ takesValue }) => takesValue)
    .map(({ name: option, values }) => `    '${name} --${option}') ${offer(values)}; return ;;`);
}

function commandCase({ name, options, operands }: OfferedCommand): string {
  const named = options.map((option) => `--${option.name}`).join(' ');
  return `    '${name}') options='${named}' operands='${operandsWord(operands)}' ;;`;
}

function operandsWord(operands: Offer): string {
  if (operands === 'file') return '-f';
  if (operands === 'folder') return '-d';
  return operands === 'none' ? '' : operands.join(' ');
}

function offer(values: Offer): string {
  if (values === 'file') return '_umpire_paths -f';
  if (values === 'folder') return '_umpire_paths -d';
  return values === 'none' ? ':' : `_umpire_words '${values.join(' ')}'`;
}
