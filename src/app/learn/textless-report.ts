// What learning found, without the words of whoever sent the rows: questions and options by their hashes, rows by their
// places.

import { hashOfAsked } from '../../learning/frozen-rows.ts';
import type { LearnReport, QuestionFindings } from '../../learning/learn-order.ts';
import type { LearnVerdict } from '../../learning/question-report.ts';
import type { LabelledRow } from '../../quality/labelled-row.ts';
import type { LearningReport, LearningVerdict, ReportedQuestion } from '../../services/learning/learning-job.ts';

/** @param rows of the order: their lines are places from 1 */
export function withoutTexts(report: LearnReport, rows: readonly LabelledRow[]): LearningReport {
  const firstRows = findFirstRows(rows);
  return {
    skipped: report.leftOut.map(({ line, message }) => ({ row: line - 1, reason: message })),
    questions: report.questions.map((findings) => describe(findings, firstRows.get(findings.asked))),
  };
}

const VERDICTS: Readonly<Record<LearnVerdict, LearningVerdict>> = {
  learned: 'learned',
  'no gain': 'no_gain',
  'too few rows': 'too_few_rows',
  'one option only': 'one_option_only',
};

function describe(findings: QuestionFindings, firstRow: number | undefined): ReportedQuestion {
  const { type, asked, verdict, rows, states, options, rowsOfOptions, scarceOptions } = findings;
  return {
    type,
    asked,
    firstRow: firstRow ?? null,
    verdict: VERDICTS[verdict],
    rows,
    documents: states,
    options: options.map((hash, place) => {
      return { hash, rows: rowsOfOptions[place] ?? 0, isScarce: scarceOptions.includes(place) };
    }),
    figures: findings.figures ?? null,
    curve: findings.curve.map(({ rowsPerOption, rows, accuracy }) => ({ rowsPerOption, rows, accuracy })),
    wouldMoreHelp: findings.wouldMoreHelp ?? null,
    contradictions: findings.contradictions.map(({ lines }) => lines.filter(isOfRequest).map(toPlace)),
    suspects: findings.suspects
      .filter(({ line }) => isOfRequest(line))
      .map(({ line, labelled, likelier, probability }) => ({ row: toPlace(line), labelled, likelier, probability })),
  };
}

/** Rows that were learned earlier have no line. */
function isOfRequest(line: number): boolean {
  return line > 0;
}

function toPlace(line: number): number {
  return line - 1;
}

/** By what is asked. */
function findFirstRows(rows: readonly LabelledRow[]): Map<string, number> {
  const places = new Map<string, number>();
  const seen = new Set<object>();
  for (const { line, questions } of rows) {
    for (const { question } of questions) {
      if (seen.has(question)) continue;
      seen.add(question);
      const asked = hashOfAsked(question);
      if (!places.has(asked)) places.set(asked, toPlace(line));
    }
  }
  return places;
}
