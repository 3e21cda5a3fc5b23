// `umpire doctor`: looks at what a server needs before one is started, and says what is wrong and what to do.

import { type Command, refusePositionals } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { wrapText } from './help-layout.ts';
import type { Style } from './paint.ts';
import type { Finding, Program } from './program.ts';
import { JSON_OPTION, renderJson } from './table.ts';

const STATE_WIDTH = 'note'.length + 2;
const SUBJECT_WIDTH = 22;
const MIN_TEXT_WIDTH = 30;
const STYLES: Readonly<Record<Finding['state'], Style>> = { ok: 'green', note: 'cyan', warn: 'yellow', fail: 'red' };

export const doctorCommand: Command = {
  name: 'doctor',
  group: 'server',
  summary: 'Check everything that a server needs, and say what to do',
  usage: '[--quick] [--json] [settings]',
  options: {
    quick: { type: 'boolean', help: 'Load no model: their golden cases are left out' },
    json: JSON_OPTION,
  },
  notes: 'Changes nothing, and may run beside a server. `umpire db check` looks into the books as well.',
  examples: [
    { text: 'Before the first start', command: 'umpire doctor' },
    { text: 'At once, in a check of health', command: 'umpire doctor --quick' },
    { text: 'With the settings of the server, for a program', command: 'umpire doctor --config umpire.yaml --json' },
  ],
  json: { isList: false, members: ['ok', 'findings'] },
  exits: { 1: 'A server would not work as configured.' },
  async run(given, program) {
    refusePositionals(given);
    const findings: Finding[] = [];
    for await (const finding of program.diagnose(given.settings, { isQuick: given.options['quick'] === true })) {
      findings.push(finding);
      if (!given.options['json']) program.writeOut(toLines(finding, program));
    }
    const count = (state: Finding['state']): number => findings.filter((finding) => finding.state === state).length;
    const [faults, warnings] = [count('fail'), count('warn')];
    if (given.options['json']) program.writeOut(renderJson({ ok: faults === 0, findings }));
    else program.writeOut(`\n${verdict(faults, warnings)}\n`);
    return faults === 0 ? EXIT.done : EXIT.failed;
  },
};

function toLines({ state, subject, text, remedy }: Finding, { paint, isTerminal, columns }: Program): string {
  const margin = STATE_WIDTH + SUBJECT_WIDTH;
  // Elsewhere a line is for a program, and stays one.
  const width = isTerminal ? Math.max(MIN_TEXT_WIDTH, columns - margin) : Number.POSITIVE_INFINITY;
  const told = [text, ...(remedy === undefined ? [] : [`→ ${remedy}`])].flatMap((line) =>
    wrapText(line, width).split('\n'),
  );
  const head = `${paint(STYLES[state], state)}${' '.repeat(STATE_WIDTH - state.length)}${subject.padEnd(SUBJECT_WIDTH - 1)} `;
  return `${head}${told.join(`\n${' '.repeat(margin)}`)}\n`;
}

function verdict(faults: number, warnings: number): string {
  const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
  if (faults > 0)
    return `${plural(faults, 'fault')}, ${plural(warnings, 'warning')}: a server would not work as configured.`;
  return warnings > 0 ? `No fault, ${plural(warnings, 'warning')}.` : 'No fault found.';
}
