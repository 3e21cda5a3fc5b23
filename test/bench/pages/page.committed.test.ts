// The committed pages and plots are what today's writers make of the committed figures; `-u` writes them again.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../../../bench/machine/machine.ts';
import { writePage } from '../../../bench/pages/page.ts';
import { nameReport, parseReport, renderReport } from '../../../bench/pages/peers-report.ts';
import { judgeTargets } from '../../../bench/pages/targets.ts';
import { listLearningFiles } from '../../../bench/quality/learning/learning-report.ts';
import type { LearningReport } from '../../../bench/quality/learning/measure-learning.ts';
import type { QualityReport } from '../../../bench/quality/measure-quality.ts';
import { listQualityFiles } from '../../../bench/quality/quality-report.ts';

const RESULTS = join(ROOT, 'bench', 'results');
const readReport = (file: string): unknown => JSON.parse(gunzipSync(readFileSync(join(RESULTS, file))).toString());

async function expectCommitted(files: Iterable<readonly [name: string, text: string]>): Promise<void> {
  for (const [name, text] of files) await expect(text).toMatchFileSnapshot(join(RESULTS, name));
}

describe.each(globSync('*-peers.json.gz', { cwd: RESULTS }))('%s', (file) => {
  const packed = readFileSync(join(RESULTS, file));
  const report = parseReport(packed);

  it('is what is written of its report', () => {
    expect(gunzipSync(renderReport(report)).toString()).toBe(gunzipSync(packed).toString());
  });

  it('has the targets that its parts reach and miss', () => {
    expect(JSON.parse(JSON.stringify(judgeTargets(report.parts)))).toEqual(
      JSON.parse(gunzipSync(packed).toString()).targets,
    );
  });

  it('makes its page and its plots', async () => {
    const { markdown, plots } = writePage(report);
    expect([...plots.keys()].sort()).toEqual(globSync(`${nameReport(report)}-*.svg`, { cwd: RESULTS }).sort());
    await expectCommitted([[`${nameReport(report)}.md`, markdown], ...plots]);
  });
});

describe.each(globSync('quality-*.json.gz', { cwd: RESULTS }))('%s', (file) => {
  it('makes its page and its diagram', async () => {
    const report = readReport(file) as QualityReport;
    const texts = [...listQualityFiles(report)].filter(([name]) => name !== file);
    await expectCommitted(texts.map(([name, text]) => [name, String(text)]));
  });
});

describe.each(globSync('learning-*.json.gz', { cwd: RESULTS }))('%s', (file) => {
  it('makes its page', async () => {
    const report = readReport(file) as LearningReport;
    const page = listLearningFiles(report).get(file.replace('.json.gz', '.md'));
    await expectCommitted([[file.replace('.json.gz', '.md'), String(page)]]);
  });
});
