// `umpire calibrate`: temperatures for a model out of somebody's own labelled rows, written into its folder.

import { writeFile } from 'node:fs/promises';
import { messageOf } from '../domain/errors.ts';
import { answerRows, type RowRefusal } from '../quality/asking.ts';
import { type CalibratedGroup, type Calibration, calibrate } from '../quality/calibration.ts';
import type { Figures } from '../quality/figures.ts';
import type { LabelledRow } from '../quality/labelled-row.ts';
import { LEAST_ANSWERS } from '../quality/temperature-fit.ts';
import { type Command, type CommandArguments, UsageError } from './command.ts';
import { DEFAULT_MODEL } from './default-model.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { CommandError, commandFailure } from './failure.ts';
import { figuresToJson, formatFigure } from './figure-cells.ts';
import { LABELLED_FILE_NOTES, LABELLED_FILE_OPTIONS, readLabelledFile } from './labelled-file.ts';
import type { DecisionModel, Program } from './program.ts';
import { JSON_OPTION, renderJson, renderTable } from './table.ts';
import { askOverWire } from './wire-ask.ts';

export const calibrateCommand: Command = {
  name: 'calibrate',
  group: 'models',
  summary: 'Fit the temperatures of a model on your own labelled rows',
  usage: 'FILE [--model …] [--out …] [--dry-run] [--json]',
  options: {
    model: {
      type: 'string',
      help: `Model folder or id; ${DEFAULT_MODEL} if left out`,
      example: './my-kev',
      values: 'model',
    },
    ...LABELLED_FILE_OPTIONS,
    out: {
      type: 'string',
      help: 'Write the manifest here, the model folder stays as it is',
      example: 'model.json',
      values: 'file',
    },
    'dry-run': { type: 'boolean', help: 'Show what would change, and write nothing' },
    json: JSON_OPTION,
  },
  operands: 'file',
  notes: LABELLED_FILE_NOTES,
  examples: [
    { text: 'What would change', command: 'umpire calibrate rows.jsonl --dry-run' },
    {
      text: 'Into a copy of a model folder',
      command: 'umpire calibrate rows.jsonl --model ./my-kev',
      untested: 'needs hundreds of labelled rows to change anything',
    },
  ],
  json: { isList: false, members: ['model', 'digest', 'groups', 'before', 'after', 'written', 'new_digest'] },
  exits: { 1: 'A row was not answered, or there are too few to fit anything.' },
  async run(given, program) {
    if (given.options['dry-run'] === true && given.options['out'] !== undefined) {
      throw new UsageError('Write to --out or try with --dry-run, not both.');
    }
    return await calibrateOn(await readLabelledFile(given), given, program);
  },
};

async function calibrateOn(rows: readonly LabelledRow[], given: CommandArguments, program: Program): Promise<ExitCode> {
  const { model: wanted = DEFAULT_MODEL } = given.options;
  const model = await program.findDecisionModel(given.settings, String(wanted));
  if (model.isLearned) {
    throw new UsageError(
      `${model.id} is a learned model: it is calibrated whenever it is learned. Calibrate its base.`,
    );
  }
  const { answers, refusals } = await askAll(rows, model);
  if (refusals.length > 0) throw refused(refusals);
  const calibration = calibrate(answers, model.temperatures);
  const isJson = given.options['json'] === true;
  // Before anything is written: whoever looks sees what it was for, also where it cannot be.
  if (!isJson) program.writeOut(renderCalibration(calibration));
  const verdicts = new Set(calibration.groups.map(({ verdict }) => verdict));
  // Whoever asks for its calibration has it then: enough rows found nothing better.
  const isConfirmed = !model.isCalibrated && verdicts.has('no gain');
  const written = verdicts.has('fitted') || isConfirmed ? await write(calibration, model, given) : UNCHANGED;
  program.writeOut(isJson ? renderJson(toJson(calibration, model, written)) : `${written.words}\n`);
  const isShort = !verdicts.has('fitted') && !verdicts.has('no gain');
  return isShort ? EXIT.failed : EXIT.done;
}

function refused(refusals: readonly RowRefusal[]): CommandError {
  const lines = refusals.map(({ line, message }) => `line ${line} was not answered: ${message}`);
  const told = [...lines, 'Nothing was written: repair or remove these rows.'].join('\n');
  return new CommandError(commandFailure('invalid_rows', told));
}

async function askAll(rows: readonly LabelledRow[], model: DecisionModel) {
  const server = await model.startServer();
  try {
    return await answerRows(rows, askOverWire(model, server));
  } finally {
    await server.close();
  }
}

interface Written {
  readonly words: string;
  /** A folder or a file; null: nothing was written. */
  readonly path: string | null;
  /** Of the folder, where that was written. */
  readonly digest: string | null;
}

const UNCHANGED: Written = {
  words: 'Nothing to write: the temperatures stay as they are.',
  path: null,
  digest: null,
};

async function write(
  { temperatures, groups }: Calibration,
  model: DecisionModel,
  { options }: CommandArguments,
): Promise<Written> {
  const { out } = options;
  if (options['dry-run'] === true) return { ...UNCHANGED, words: 'Nothing was written (--dry-run).' };
  if (typeof out !== 'string') {
    const digest = await model.writeTemperatures(temperatures);
    const isFitted = groups.some(({ verdict }) => verdict === 'fitted');
    const kept = isFitted ? '' : 'The temperatures stay as they are, and the model counts as calibrated.\n';
    const words = `${kept}Written: ${model.folder}, ${digest}. A running server takes it at its next start.`;
    return { words, path: model.folder, digest };
  }
  const manifest = await model.renderManifest(temperatures);
  try {
    await writeFile(out, manifest);
  } catch (error) {
    throw new UsageError(`${out} cannot be written: ${messageOf(error)}.`);
  }
  const words = `Written: ${out}. The model folder stays as it is; to use these temperatures, copy the folder and calibrate the copy.`;
  return { words, path: out, digest: null };
}

function toJson({ groups, before, after }: Calibration, model: DecisionModel, { path, digest }: Written): object {
  return {
    model: model.id,
    digest: model.digest,
    groups: groups.map((group) => ({
      type: group.type,
      options: group.bucket,
      answers: group.answers,
      verdict: group.verdict,
      temperature: group.oldTemperature,
      new_temperature: group.newTemperature,
      before: figuresToJson(group.before),
      after: figuresToJson(group.after),
    })),
    before: figuresToJson(before),
    after: figuresToJson(after),
    written: path,
    new_digest: digest,
  };
}

function renderCalibration({ groups, before, after }: Calibration): string {
  const heading = ['TYPE', 'OPTIONS', 'ANSWERS', 'TEMPERATURE', 'NLL', 'ECE', ''];
  const rows = groups.map((group) => [
    group.type,
    group.bucket,
    String(group.answers),
    group.verdict === 'fitted' ? `${group.oldTemperature} → ${group.newTemperature}` : String(group.oldTemperature),
    ...changes(group.before, group.after),
    explain(group),
  ]);
  const all = ['all', '', String(before.questions), '', ...changes(before, after), ''];
  const note = 'After the arrow: five folds, each measured with a temperature fitted on the other four.\n';
  return `${renderTable([heading, ...rows, all])}\n${note}`;
}

function changes(before: Figures, after: Figures): string[] {
  return (['nll', 'ece'] as const).map((figure) =>
    before === after
      ? formatFigure(before[figure])
      : `${formatFigure(before[figure])} → ${formatFigure(after[figure])}`,
  );
}

function explain({ verdict }: CalibratedGroup): string {
  switch (verdict) {
    case 'fitted':
      return '';
    case 'too few answers':
      return `kept: fewer than ${LEAST_ANSWERS} answers`;
    case 'no gain':
      return 'kept: a new one is no better on rows it has not seen';
  }
}
