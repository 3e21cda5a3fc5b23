// What was found about each question, under the names that the rows have for it and its options.

import type { FrozenQuestion } from '../../learning/frozen-rows.ts';
import type { QuestionFindings } from '../../learning/learn-order.ts';
import type { QuestionReport } from '../../learning/question-report.ts';
import type { AskedQuestion, RowDocument } from '../../learning/row-documents.ts';

/** Of an option that no row of the file has, and whose name nobody knows any more. */
const HASH_DIGITS = 8;

/** @returns in the order of the rows that ask them */
export function describeFindings(
  found: readonly QuestionReport[],
  documents: readonly RowDocument[],
  questions: readonly FrozenQuestion[],
): QuestionFindings[] {
  const asked = [...new Set(documents.flatMap(({ answers }) => answers.map((answer) => answer.asked)))];
  const placeOf = (report: QuestionReport): number => {
    const same = asked.findIndex((one) => isSame(one.identity, report));
    return same >= 0 ? same : asked.findIndex(({ identity }) => identity.asked === report.asked);
  };
  return found
    .map((report) => ({ report, place: placeOf(report) }))
    .sort((a, b) => a.place - b.place)
    .map(({ report: { learned: _head, ...report }, place }) => ({
      ...report,
      name: asked[place]?.name ?? '',
      optionNames: nameOptions(report, asked),
      earlierRows: questions.find((one) => isSame(one, report))?.rows.filter(({ line }) => line === 0).length ?? 0,
    }));
}

type Identified = Pick<FrozenQuestion, 'type' | 'asked' | 'options'>;

function isSame(a: Identified, b: Identified): boolean {
  return a.type === b.type && a.asked === b.asked && a.options.join() === b.options.join();
}

function nameOptions(report: Identified, asked: readonly AskedQuestion[]): string[] {
  const names = new Map<string, string>();
  for (const { identity, optionNames } of asked) {
    if (identity.asked !== report.asked) continue;
    for (const [place, option] of identity.options.entries()) names.set(option, optionNames[place] ?? '');
  }
  return report.options.map((option) => names.get(option) ?? `#${option.slice(0, HASH_DIGITS)}`);
}
