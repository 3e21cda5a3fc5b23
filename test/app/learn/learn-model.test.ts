// A learning from its rows to the folder, on a small model with random weights: what is written, what is refused, and that
// nothing stays of what was cut off.

import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findDecisionFolder } from '../../../src/app/configured-models.ts';
import { learnModel } from '../../../src/app/learn/learn-model.ts';
import { readLearnedFolder, readLearnedRows } from '../../../src/app/learned/learned-folder.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { LearnError } from '../../../src/learning/learn-error.ts';
import type { LearnNews, LearnOrder, LearnReport } from '../../../src/learning/learn-order.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { parseLabelledRows } from '../../../src/quality/labelled-row.ts';
import { writeTemperatures } from '../../../src/runtime/model-folder/calibrated-folder.ts';
import { ModelBusyError } from '../../../src/runtime/model-folder/model-lock.ts';
import { layForeignFolders } from '../../fixtures/foreign-folders.ts';
import { GRAPH_CACHE, ROOT } from '../../process/server-process.ts';
import { tinyDecision } from '../../workers/tiny-engine.ts';

const root = mkdtempSync(join(tmpdir(), 'umpire-learn-model-'));
const base = join(root, 'tiny-decision');
let entailment: string;
let dataDir: string;

beforeAll(() => {
  cpSync(tinyDecision, base, { recursive: true });
  [entailment = ''] = layForeignFolders(root, ['deberta-nli']);
});
beforeEach(() => {
  dataDir = mkdtempSync(join(root, 'data-'));
  rmSync(dataDir, { recursive: true });
});
afterAll(() => rmSync(root, { recursive: true }));

const logger = createLogger({ level: 'warn', format: 'text', destination: process.stderr });
const NOW = new Date('2026-11-22T12:00:00Z');
const SECRET = 'quillfeather';

type Row = { readonly state: string; readonly questions: object };

const team = (gold: string, ...names: readonly string[]) => ({
  type: 'choice',
  instructions: `Which team, ${SECRET}?`,
  criteria: Object.fromEntries(names.map((name) => [name, name === 'refund' ? SECRET : null])),
  gold,
});
const TEAMS = ['refund', 'parcel', 'order'];

/** One word of each says what is right. @param from number of the first */
function rows(count: number, from = 0, names: readonly string[] = TEAMS): Row[] {
  return Array.from({ length: count }, (_, i) => {
    const right = TEAMS[(from + i) % TEAMS.length] ?? '';
    const late = (from + i) % 2 === 0;
    return {
      state: `${from + i} ${SECRET} ${`${right} `.repeat(6)} ${late ? 'late late late' : 'day'}`,
      questions: { team: team(right, ...names), late: { type: 'noul', instructions: 'late?', gold: late } },
    };
  });
}

interface Given extends Partial<Omit<LearnOrder, 'rows'>> {
  readonly signal?: AbortSignal;
  readonly onReport?: (report: LearnReport) => void | Promise<void>;
  readonly onNews?: (news: LearnNews) => void;
}

async function learn(given: readonly Row[], { signal, onReport, onNews, ...order }: Given = {}) {
  const { config } = configOf();
  const text = given.map((row) => JSON.stringify(row)).join('\n');
  const whole: LearnOrder = {
    id: 'support',
    base: 'tiny-decision',
    usesEmbedder: false,
    rows: parseLabelledRows(text),
    addsRows: false,
    renames: [],
    replaces: false,
    isTrial: false,
    ...order,
  };
  const around = { config, now: NOW, logger, signal: signal ?? new AbortController().signal };
  return await learnModel(whole, {
    ...around,
    tell: onNews ?? (() => undefined),
    onReport: onReport ?? (() => undefined),
  });
}

function configOf() {
  const models = [base, entailment, join(ROOT, 'models', 'text-embed-mini')].join();
  const env = { UMPIRE_DATA_DIR: dataDir, UMPIRE_MODELS: models, UMPIRE_ENGINE_CACHE_DIR: GRAPH_CACHE };
  return loadConfig({ flags: {}, env: { ...env, UMPIRE_ENGINE_WORKERS: '2' } });
}

async function errorOf(learning: Promise<unknown>): Promise<unknown> {
  return await learning.then(
    () => undefined,
    (error: unknown) => error,
  );
}

const folderOf = (id = 'support'): string => join(dataDir, 'models', id);
/** What a reader of the data folder sees of models. */
const modelsThere = (): string[] => (existsSync(join(dataDir, 'models')) ? readdirSync(join(dataDir, 'models')) : []);

describe('rows whose words say what is right', () => {
  it('become a folder without a word of theirs, the same for the same rows', async () => {
    const { report, written } = await learn(rows(48));
    expect(report).toMatchObject({ id: 'support', rows: 48, leftOut: [], untouched: 0, replacedAnswers: 0 });
    expect(report.questions.map(({ name, verdict, rows: count }) => [name, verdict, count])).toEqual([
      ['team', 'learned', 48],
      ['late', 'learned', 48],
    ]);
    const [{ figures, optionNames, rowsOfOptions } = { figures: undefined }] = report.questions;
    expect(figures?.learned.accuracy.mean).toBeGreaterThan((figures?.zeroShot.accuracy.mean ?? 1) + 0.2);
    expect(Object.fromEntries((optionNames ?? []).map((name, at) => [name, rowsOfOptions?.[at]]))).toEqual({
      refund: 16,
      parcel: 16,
      order: 16,
    });
    const folder = await readLearnedFolder(folderOf());
    expect(folder.digest).toBe(written?.digest);
    expect(folder.model).toMatchObject({ base: { id: 'tiny-decision' }, embedder: undefined });
    expect(folder.model.questions).toHaveLength(2);
    for (const file of readdirSync(folderOf())) {
      expect(readFileSync(join(folderOf(), file)).toString('latin1')).not.toContain(SECRET);
    }
    expect(JSON.stringify(report.questions.map(({ name: _, optionNames: __, ...rest }) => rest))).not.toContain(SECRET);
    const again = await learn(rows(48), { id: 'twin' });
    expect(readFileSync(join(folderOf('twin'), 'heads.bin'))).toEqual(readFileSync(join(folderOf(), 'heads.bin')));
    expect(again.report.questions).toEqual(report.questions);
  });

  it('leave no trace in a trial', async () => {
    const { report, written } = await learn(rows(24), { isTrial: true });
    expect([report.questions.length, written, existsSync(dataDir)]).toEqual([2, undefined, false]);
  });

  it('are read with the embedder as well, where it is asked for', async () => {
    await learn(rows(30), { usesEmbedder: true });
    const { model } = await readLearnedFolder(folderOf());
    expect(model.embedder?.id).toBe('text-embed-mini');
    const { model: alone } = await learn(rows(30), { id: 'alone' }).then(() => readLearnedFolder(folderOf('alone')));
    expect(model.dimensions).toBe(alone.dimensions + 384);
  });

  it('are read with the embedder alone, where the base gives no vector', async () => {
    await learn(rows(24), { base: 'deberta-nli' });
    const { model } = await readLearnedFolder(folderOf());
    expect(model).toMatchObject({ dimensions: 384, embedder: { id: 'text-embed-mini' } });
  });
});

describe('rows that are added', () => {
  it('join those learned before, and change nothing the second time', async () => {
    await learn(rows(24));
    const { report, written } = await learn(rows(12, 24), { addsRows: true, base: undefined });
    expect(report.questions.map(({ rows: count, earlierRows }) => [count, earlierRows])).toEqual([
      [36, 24],
      [36, 24],
    ]);
    const again = await learn(rows(12, 24), { addsRows: true });
    expect(again.report.replacedAnswers).toBe(24);
    expect(again.written?.digest).toBe(written?.digest);
  });

  it('leave other questions as they are', async () => {
    await learn(rows(24));
    const before = await readLearnedFolder(folderOf());
    const only = rows(6, 24).map(({ state, questions }) => ({
      state,
      questions: { team: (questions as { team: object }).team },
    }));
    const { report } = await learn(only, { addsRows: true });
    const after = await readLearnedFolder(folderOf());
    expect([report.untouched, report.questions.length, after.model.questions.length]).toEqual([1, 1, 2]);
    const noulOf = ({ model }: typeof before) => model.questions.find(({ type }) => type === 'noul');
    expect(noulOf(after)).toEqual(noulOf(before));
  });

  it('leave a question as it is that has an option without rows', async () => {
    await learn(rows(24, 0, [...TEAMS, 'press']));
    const before = await readLearnedFolder(join(dataDir, 'models', 'support'));
    expect(before.model.questions.map(({ options }) => options.length)).toContain(TEAMS.length);
    const only = rows(12, 24).map(({ state, questions }) => ({ state, questions: { late: Object(questions).late } }));
    await learn(only, { addsRows: true });
    const after = await readLearnedFolder(join(dataDir, 'models', 'support'));
    expect(after.model.questions.filter(({ type }) => type === 'choice')).toEqual(
      before.model.questions.filter(({ type }) => type === 'choice'),
    );
  });

  it('may have an option more, and one with another name', async () => {
    await learn(rows(24));
    const more = [...rows(12, 24, [...TEAMS, 'press'])];
    const { report } = await learn(more, { addsRows: true });
    const [question] = report.questions;
    expect([question?.rows, question?.earlierRows, question?.options.length]).toEqual([36, 24, 4]);
    const renamed = JSON.parse(JSON.stringify(rows(6, 36)).replaceAll('"parcel"', '"post"')) as Row[];
    const warnings: LearnNews[] = [];
    const later = await learn(renamed, {
      addsRows: true,
      renames: [
        { from: 'parcel', to: 'post' },
        { from: 'nothing', to: 'order' },
      ],
      onNews: (news) => news.kind === 'warning' && warnings.push(news),
    });
    expect(later.report.questions[0]?.rows).toBe(42);
    expect(later.report.questions[0]?.optionNames.filter((name) => !name.startsWith('#')).sort()).toEqual([
      'order',
      'post',
      'refund',
    ]);
    expect(warnings).toEqual([{ kind: 'warning', text: 'Nothing learned earlier has the option "nothing".' }]);
  });

  it('are refused where the base is another one now', async () => {
    const { config } = configOf();
    const folder = await findDecisionFolder(config, 'tiny-decision');
    const { temperatures } = folder.manifest;
    await learn(rows(24));
    await writeTemperatures(folder, { ...temperatures, noul: { ...temperatures.noul, '2': 3 } });
    const error = await errorOf(learn(rows(6, 24), { addsRows: true }));
    expect(error).toMatchObject({ code: 'base_changed' });
    expect(String(error)).toContain('tiny-decision has changed since support was learned');
    expect((await learn(rows(24), { replaces: true })).written).toBeDefined();
    await writeTemperatures(await findDecisionFolder(config, 'tiny-decision'), temperatures);
    expect(await errorOf(learn(rows(6), { addsRows: true, base: 'deberta-nli' }))).toMatchObject({
      code: 'base_changed',
    });
    expect(await errorOf(learn(rows(6), { addsRows: true, id: 'nobody' }))).toMatchObject({ code: 'model_missing' });
    expect(await errorOf(learn(rows(6), { base: 'support', id: 'other' }))).toMatchObject({ code: 'unusable_base' });
  });
});

describe('rows that cannot be learned', () => {
  it('are left out by their lines where the base cannot read them', async () => {
    const [first, second, ...others] = rows(26);
    const long = { ...first, state: 'late '.repeat(8300), questions: first?.questions ?? {} };
    const { report } = await learn([long, ...(second === undefined ? [] : [second]), ...others]);
    expect(report.rows).toBe(25);
    expect(report.leftOut).toMatchObject([{ line: 1, message: expect.stringContaining('8192') }]);
    const error = await errorOf(learn([long], { id: 'other' }));
    expect(error).toBeInstanceOf(LearnError);
    expect(String(error)).toMatch(/can read none of the rows:\nline 1: /);
    expect(modelsThere().filter((name) => !name.startsWith('.'))).toEqual(['support']);
  });

  it.each([
    ['three rows', rows(3), 'too few rows'],
    [
      'one answer for all',
      rows(30).map(({ state }) => ({ state, questions: { team: team('order', ...TEAMS) } })),
      'one option only',
    ],
  ])('%s: nothing is written', async (_, given, verdict) => {
    const { report, written } = await learn(given);
    expect(report.questions[0]?.verdict).toBe(verdict);
    expect(written).toBeUndefined();
    expect(existsSync(folderOf())).toBe(false);
  });

  it('are told where the same document has two answers', async () => {
    const [first] = rows(1);
    const other = { state: first?.state ?? '', questions: { team: team('order', ...TEAMS) } };
    const { report } = await learn([...rows(24), other], { isTrial: true });
    expect(report.questions[0]?.contradictions).toMatchObject([{ lines: [1, 25] }]);
  });
});

describe('a learning', () => {
  it.each(['../evil', '', 'Support', 'tiny-decision/x'])('has no model named %j', async (id) => {
    expect(await errorOf(learn(rows(6), { id }))).toMatchObject({ code: 'model_taken' });
    expect(existsSync(dataDir)).toBe(false);
  });

  it('takes no name that is taken, unless it may', async () => {
    await learn(rows(24));
    const before = readFileSync(join(folderOf(), 'SHA256SUMS'));
    expect(await errorOf(learn(rows(30)))).toMatchObject({ code: 'model_taken' });
    expect(readFileSync(join(folderOf(), 'SHA256SUMS'))).toEqual(before);
    await learn(rows(30), { replaces: true });
    expect((await readLearnedRows(folderOf())).map(({ rows: all }) => all.length)).toEqual([30, 30]);
  });

  it('is alone with its name', async () => {
    const both = await Promise.allSettled([learn(rows(24)), learn(rows(30))]);
    const refused = both.filter((one) => one.status === 'rejected');
    expect(refused).toHaveLength(1);
    expect(refused[0]?.reason).toBeInstanceOf(ModelBusyError);
    expect((await readLearnedFolder(folderOf())).model.questions).toHaveLength(2);
  });

  it.each(['reading', 'fitting'] as const)('that is stopped while it is %s writes nothing', async (step) => {
    const stopped = new AbortController();
    const reason = new Error('Stopped by this test.');
    const onNews = (news: LearnNews): void => {
      if (news.kind === 'step' && news.step === step) stopped.abort(reason);
    };
    expect(await errorOf(learn(rows(40), { signal: stopped.signal, onNews }))).toBe(reason);
    expect(modelsThere().filter((name) => name !== '.locks')).toEqual([]);
    // The lock was let go.
    expect((await learn(rows(24))).written).toBeDefined();
  });

  it('writes nothing where its report is not taken', async () => {
    const reason = new Error('The trail cannot be written.');
    expect(await errorOf(learn(rows(24), { onReport: () => Promise.reject(reason) }))).toBe(reason);
    expect(modelsThere().filter((name) => name !== '.locks')).toEqual([]);
  });

  it('says what is wrong with a place that cannot be written', async () => {
    writeFileSync(dataDir, 'a file');
    expect(String(await errorOf(learn(rows(24))))).toMatch(/Nothing can be written to .*models/);
  });
});
