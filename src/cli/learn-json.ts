// What a learning found, as JSON. A figure of nothing is null.

import { measuredToJson } from '../domain/learned-figures.ts';
import type { LearnOutcome, QuestionFindings } from '../learning/learn-order.ts';

export function learningToJson({ report, written }: LearnOutcome): object {
  return {
    id: report.id,
    base: report.base.id,
    base_digest: report.base.digest,
    embedder: report.embedder?.id ?? null,
    rows: report.rows,
    left_out: report.leftOut,
    replaced_answers: report.replacedAnswers,
    untouched_questions: report.untouched,
    questions: report.questions.map(findingsToJson),
    written: written?.folder ?? null,
    digest: written?.digest ?? null,
  };
}

function findingsToJson(findings: QuestionFindings): object {
  const { optionNames, figures, rowsOfOptions } = findings;
  const nameOf = (place: number): string => optionNames[place] ?? '';
  return {
    name: findings.name,
    type: findings.type,
    verdict: findings.verdict.replaceAll(' ', '_'),
    rows: findings.rows,
    documents: findings.states,
    earlier_rows: findings.earlierRows,
    options: optionNames.map((name, place) => ({ name, rows: rowsOfOptions[place] ?? 0 })),
    zero_shot: figures === undefined ? null : measuredToJson(figures.zeroShot),
    learned: figures === undefined ? null : measuredToJson(figures.learned),
    learning_curve: findings.curve.map(({ rowsPerOption, rows, accuracy, nll }) => ({
      rows_per_option: rowsPerOption,
      rows,
      accuracy,
      nll,
    })),
    more_rows_would_help: findings.wouldMoreHelp ?? null,
    scarce_options: findings.scarceOptions.map(nameOf),
    contradictions: findings.contradictions.map(({ lines, labelled }) => ({ lines, options: labelled.map(nameOf) })),
    suspects: findings.suspects.map(({ line, labelled, likelier, probability }) => ({
      line,
      option: nameOf(labelled),
      likelier: nameOf(likelier),
      probability,
    })),
  };
}
