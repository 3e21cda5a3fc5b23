// The quality bench: its baseline's texts, its diagram, and a whole run over a made-up folder of data with a model of
// random weights.

import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answerByCosine, cosineTexts } from '../../bench/quality/cosine-baseline.ts';
import { readHeldoutTasks, readTrainingTasks } from '../../bench/quality/decision-tasks.ts';
import { measureLongEvidence } from '../../bench/quality/long-evidence.ts';
import { drawReliability } from '../../bench/quality/reliability-diagram.ts';
import { reliabilityBins } from '../../src/quality/figures.ts';
import { childEnvironment, ROOT } from '../process/server-process.ts';
import { tinyDecision } from '../workers/tiny-engine.ts';

const folder = mkdtempSync(join(tmpdir(), 'umpire-quality-'));

/** A task of labels; the right label stands in the text. */
function labelTask(task: string, { split = 'heldout', licence = 'CC0', words = ['refund', 'order'] } = {}) {
  const labels = Object.fromEntries(words.map((word) => [word, null]));
  const rows = Array.from({ length: 6 }, (_, i) => ({
    state: `the ${words[i % words.length]} number ${i} of ${task}`,
    label: words[i % words.length],
  }));
  writeRows(split, task, rows);
  return {
    task,
    split,
    type: 'choice',
    format: 'labels',
    labels,
    instructions: ['which?', 'what is it about?'],
    licence,
  };
}

function writeRows(split: string, task: string, rows: readonly unknown[]): void {
  mkdirSync(join(folder, split), { recursive: true });
  writeFileSync(
    join(folder, split, `${task}.jsonl.gz`),
    gzipSync(rows.map((row) => `${JSON.stringify(row)}\n`).join('')),
  );
}

beforeAll(() => {
  writeRows('heldout', 'sgd_unseen_services', [
    { state: 'the parcel is late', questions: [{ type: 'noul', instructions: 'late?', gold: true }] },
    {
      state: 'the parcel is open',
      questions: [{ type: 'score', instructions: 'how?', criteria: ['no', 'yes'], gold: 1 }],
    },
  ]);
  const entries = [
    labelTask('snips', { words: ['parcel', 'bill', 'refund'] }),
    labelTask('financial_phrasebank'),
    {
      task: 'sgd_unseen_services',
      split: 'heldout',
      type: 'mixed',
      format: 'questions',
      labels: null,
      instructions: [],
      licence: 'x',
    },
    labelTask('trained', { split: 'train' }),
    labelTask('tweets', { split: 'train', licence: 'not stated; Twitter terms' }),
  ];
  writeFileSync(join(folder, 'tasks.json'), JSON.stringify(entries));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('the data', () => {
  it('is read by split, questions named after their task', () => {
    const tasks = readHeldoutTasks(folder, 2);
    expect(tasks.map(({ name, rows }) => [name, rows.length])).toEqual([
      ['snips', 2],
      ['financial_phrasebank', 2],
      ['sgd_unseen_services', 2],
    ]);
    expect(tasks[2]?.rows.flatMap(({ questions }) => questions.map(({ task }) => task))).toEqual([
      'sgd_unseen_services',
      'sgd_unseen_services',
    ]);
  });

  it('is not fitted on without a clear licence', () => {
    expect(readTrainingTasks(folder, 2).map(({ name }) => name)).toEqual(['trained']);
    expect(readTrainingTasks(folder, 0)).toEqual([]);
  });
});

describe('the cosine baseline', () => {
  const options = [
    { name: 'book_flight', description: 'wants to fly' },
    { name: 'none_of_these', description: null },
    { name: 'x', description: '' },
    { name: '', description: 'nameless' },
  ];

  it('reads options and sides as its frozen template says', () => {
    expect(cosineTexts({ type: 'choice', instructions: 'q', options })).toEqual([
      'book flight: wants to fly',
      'none of these',
      'x',
      'nameless',
    ]);
    expect(cosineTexts({ type: 'noul', instructions: 'Is it?', whenFalse: null, whenTrue: null })).toEqual([
      'not Is it?',
      'Is it?',
    ]);
    expect(cosineTexts({ type: 'noul', instructions: 'q', whenFalse: 'calm', whenTrue: 'cross' })).toEqual([
      'not calm',
      'cross',
    ]);
    expect(cosineTexts({ type: 'score', instructions: 'q', levels: ['a', 'b'] })).toEqual(['a', 'b']);
  });

  it('embeds each text once and scales cosines by 20', async () => {
    const embedded: string[] = [];
    const embed = async (texts: readonly string[]) => {
      embedded.push(...texts);
      return texts.map((text) => (text.includes('parcel') ? Float32Array.of(1, 0) : Float32Array.of(0.6, 0.8)));
    };
    const rows = readHeldoutTasks(folder, 4)[0]?.rows ?? [];
    const answers = await answerByCosine(rows, embed, (text) => text.length);
    expect(new Set(embedded).size).toBe(embedded.length);
    expect(answers).toHaveLength(4);
    expect(answers[0]).toMatchObject({ task: 'snips', names: ['parcel', 'bill', 'refund'], target: [1, 0, 0] });
    expect(answers[0]?.logits[0]).toBeCloseTo(20, 5);
    expect(answers[0]?.logits[1]).toBeCloseTo(12, 5);
  });
});

it('long documents have their evidence in the middle, and the same questions', async () => {
  const states: string[] = [];
  const model = {
    ask: async (state: string, questions: readonly { type: string }[]) => {
      states.push(state);
      return questions.map(({ type }) => (type === 'choice' ? [0.5, 0.3, 0.2] : [0.5, 0.5]));
    },
    temperatures: {},
    countTokens: (text: string) => text.split(/\s+/).filter((word) => word !== '').length,
    atOnce: 1,
  };
  const found = await measureLongEvidence(readHeldoutTasks(folder, 6), model, 3);
  expect(found.map(({ task, questions }) => [task, questions])).toEqual([
    ['snips', 3],
    ['sgd_unseen_services', 2],
    ['both', 5],
  ]);
  expect(found[0]).toMatchObject({ aloneAccuracy: 1 / 3, middleAccuracy: 1 / 3 });
  const long = states.slice(5);
  for (const [place, evidence] of states.slice(0, 5).entries()) {
    const document = long[place] ?? '';
    expect(model.countTokens(document)).toBeGreaterThan(3980);
    expect(model.countTokens(document)).toBeLessThanOrEqual(4000);
    const at = document.indexOf(`\n\n${evidence}\n\n`) / document.length;
    expect(at).toBeGreaterThan(0.45);
    expect(at).toBeLessThan(0.55);
    expect(document).toContain('financial_phrasebank');
  }
});

it('the diagram shows filled bins alone, and any name', () => {
  const bins = reliabilityBins([
    { confidence: 0.5, isRight: true },
    { confidence: 0.95, isRight: false },
  ]);
  const svg = drawReliability('a<b&"c"', { manifest: bins, crossFitted: reliabilityBins([]) });
  expect(svg).toContain('a&lt;b&amp;&quot;c&quot;');
  expect(svg).not.toContain('NaN');
  // Two of the filled bins in each of two charts, two ends of the line between.
  expect(svg.match(/<circle /g)).toHaveLength(6);
});

describe('a run', () => {
  const run = promisify(execFile);
  const start = (args: readonly string[]) =>
    run(process.execPath, [join(ROOT, 'bench', 'quality.ts'), ...args], {
      cwd: folder,
      env: childEnvironment({}),
    });

  it('says in one sentence that there is no data', async () => {
    await expect(start([])).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'No data: pass --data DIR or set UMPIRE_DATA to the folder with tasks.json, train/ and heldout/.\n',
    });
  });

  it('measures every held-out task and writes its three files', async () => {
    const out = join(folder, 'results');
    const { stdout } = await start(['--data', folder, '--rows', '4', '--model', tinyDecision, '--out', out]);
    for (const task of ['snips', 'financial_phrasebank', 'sgd_unseen_services'])
      expect(stdout).toContain(`| ${task} | `);
    const report = JSON.parse(gunzipSync(readFileSync(join(out, 'quality-tiny-decision.json.gz'))).toString());
    expect(report).toMatchObject({
      model: { id: 'tiny-decision' },
      baseline: { id: 'text-embed-mini' },
      rowsPerTask: 4,
    });
    expect(report.tasks.map(({ model }: { model: { questions: number } }) => model.questions)).toEqual([4, 4, 2]);
    for (const { order } of report.tasks) expect(order.largestShift).toBe(0);
    expect(report.longEvidence).toHaveLength(3);
    expect(readFileSync(join(out, 'quality-tiny-decision.md'), 'utf8')).toContain('quality-tiny-decision.svg');
    expect(readFileSync(join(out, 'quality-tiny-decision.svg'), 'utf8')).toContain('</svg>');
  });
});
