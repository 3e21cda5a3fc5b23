// The quality bench: the released model through the server's engine over tasks it was never trained on, beside the
// cosine baseline. Prints tables and writes bench/results/quality-<model>.{json,md,svg}. It times nothing.
// npm run bench:quality -- --learn [--data DIR] [--kept DIR] [--draws 5] [--most-training-rows 1240] [--test-rows 400] [--leave-out TASK,…] [--out DIR]: what labelled rows bring
// npm run bench:quality -- [--data DIR] [--rows 250] [--training-rows 60] [--order-rows 50] [--long-rows 50] [--reading-rows 100] [--model DIR] [--out DIR]

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from './machine/machine.ts';
import { withModels } from './quality/judged-models.ts';
import { formatLearningReport, writeLearningReport } from './quality/learning/learning-report.ts';
import { measureLearning } from './quality/learning/measure-learning.ts';
import { measureQuality } from './quality/measure-quality.ts';
import { formatReport, writeReport } from './quality/quality-report.ts';

function toCount(text: string): number {
  if (!/^\d+$/.test(text)) throw new Error(`"${text}" is not a number of rows.`);
  return Number(text);
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    model: { type: 'string' },
    out: { type: 'string', default: join(ROOT, 'bench', 'results') },
    rows: { type: 'string', default: '250' },
    'training-rows': { type: 'string', default: '60' },
    'order-rows': { type: 'string', default: '50' },
    'long-rows': { type: 'string', default: '50' },
    'reading-rows': { type: 'string', default: '100' },
    learn: { type: 'boolean', default: false },
    kept: { type: 'string', default: join(tmpdir(), 'umpire-frozen-rows') },
    draws: { type: 'string', default: '5' },
    'most-training-rows': { type: 'string', default: '1240' },
    'leave-out': { type: 'string', default: '' },
    'test-rows': { type: 'string', default: '400' },
  },
});
const { data = process.env['UMPIRE_DATA'] } = values;
const rows = toCount(values.rows);
const upToRows = (text: string): number => Math.min(rows, toCount(text));
if (!data) {
  say('No data: pass --data DIR or set UMPIRE_DATA to the folder with tasks.json, train/ and heldout/.');
  process.exitCode = 1;
} else if (values.learn) {
  const options = {
    data,
    folder: values.kept,
    leftOut: values['leave-out'].split(',').filter((name) => name !== ''),
    seeds: toCount(values.draws),
    trainingRows: toCount(values['most-training-rows']),
    testRows: toCount(values['test-rows']),
    say,
  };
  await withModels(values.model, async (models) => {
    const report = await measureLearning(models, options);
    process.stdout.write(formatLearningReport(report));
    for (const file of writeLearningReport(report, values.out)) say(`written: ${file}`);
  });
} else {
  const options = {
    data,
    rows,
    trainingRows: upToRows(values['training-rows']),
    orderRows: upToRows(values['order-rows']),
    longRows: upToRows(values['long-rows']),
    readingRows: upToRows(values['reading-rows']),
    say,
  };
  await withModels(values.model, async (models) => {
    const report = await measureQuality(models, options);
    process.stdout.write(`${formatReport(report)}\n`);
    for (const file of writeReport(report, values.out)) say(`written: ${file}`);
  });
}
