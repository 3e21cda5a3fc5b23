// `umpire doctor`: looks at what a server needs before one is started, and says what is wrong and what to do.

import { type Command, refusePositionals } from './command.ts';
import { EXIT } from './exit-codes.ts';
import type { Finding } from './program.ts';
import { JSON_OPTION, renderJson } from './table.ts';

const STATE_WIDTH = 'warning'.length + 2;
const SUBJECT_WIDTH = 24;

export const doctorCommand: Command = {
  name: 'doctor',
  group: 'server',
  summary: 'Check everything that a server needs, and say what to do',
  usage: '[--json] [settings]',
  options: { json: JSON_OPTION },
  notes: 'Changes nothing, and may run beside a server. `models verify` and `db check` look deeper, and take longer.',
  examples: [
    { text: 'Before the first start', command: 'umpire doctor' },
    { text: 'With the settings of the server, for a program', command: 'umpire doctor --config umpire.yaml --json' },
  ],
  json: { isList: false, members: ['ok', 'findings'] },
  exits: { 1: 'A server would not work as configured.' },
  async run(given, program) {
    refusePositionals(given);
    const findings: Finding[] = [];
    for await (const finding of program.diagnose(given.settings)) {
      findings.push(finding);
      if (!given.options['json']) program.writeOut(toLine(finding));
    }
    const count = (state: Finding['state']): number => findings.filter((finding) => finding.state === state).length;
    const [faults, warnings] = [count('fault'), count('warning')];
    if (given.options['json']) program.writeOut(renderJson({ ok: faults === 0, findings }));
    else program.writeOut(`\n${verdict(faults, warnings)}\n`);
    return faults === 0 ? EXIT.done : EXIT.failed;
  },
};

function toLine({ state, subject, text }: Finding): string {
  const head = `${state.padEnd(STATE_WIDTH)}${subject.padEnd(SUBJECT_WIDTH)}`;
  return `${head.endsWith(' ') ? head : `${head} `}${text.replaceAll('\n', `\n${' '.repeat(STATE_WIDTH + SUBJECT_WIDTH)}`)}\n`;
}

function verdict(faults: number, warnings: number): string {
  const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
  if (faults > 0)
    return `${plural(faults, 'fault')}, ${plural(warnings, 'warning')}: a server would not work as configured.`;
  return warnings > 0 ? `No fault, ${plural(warnings, 'warning')}.` : 'No fault found.';
}
