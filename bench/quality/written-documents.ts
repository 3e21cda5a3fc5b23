// Written documents with small edits that flip answers, as models/training/umpire_training/written.py reads them. Those
// whose number ends in 0 are never trained on, and only those leave this file.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';
import { toTarget } from '../../src/quality/gold.ts';
import type { LabelledQuestion } from '../../src/quality/labelled-question.ts';
import type { LabelledRow } from '../../src/quality/labelled-row.ts';
import { parseQuestion } from '../../src/quality/wire-question.ts';

const goldSchema = z.union([z.string(), z.boolean(), z.number()]);
const questionSchema = z.object({
  type: z.enum(['choice', 'noul', 'score']),
  instructions: z.array(z.string()).min(1),
  criteria: z.unknown().optional(),
  gold: goldSchema,
});
const documentSchema = z.object({
  id: z.string(),
  state: z.string(),
  questions: z.record(z.string(), questionSchema),
  edits: z.array(z.object({ from: z.string(), to: z.string(), gold: z.record(z.string(), goldSchema) })).default([]),
});

export type WrittenDocument = z.infer<typeof documentSchema>;
type WrittenQuestion = z.infer<typeof questionSchema>;

/** One document in so many: its number decides, wherever it stands. */
const KEPT = /0$/;

/** Of every folder that exists; @returns documents in the order of the files' names */
export function readWrittenDev(folders: readonly string[]): WrittenDocument[] {
  return folders.filter(existsSync).flatMap((folder) =>
    readdirSync(folder)
      .filter((file) => /\.jsonl(\.gz)?$/.test(file))
      .sort()
      .flatMap((file) => readDocuments(join(folder, file)))
      .filter(({ id }) => KEPT.test(id)),
  );
}

function readDocuments(path: string): WrittenDocument[] {
  const bytes = readFileSync(path);
  const text = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => documentSchema.parse(JSON.parse(line)));
}

/** The document and one side for each of its edits, all questions of it on every side, in the same wordings. */
export function sidesOf(
  document: WrittenDocument,
  line: number,
): { readonly changed: ReadonlySet<string>; readonly row: LabelledRow }[] {
  const side = (state: string, gold: Readonly<Record<string, unknown>>) => ({
    changed: new Set(Object.keys(gold)),
    row: {
      line,
      state,
      questions: Object.entries(document.questions).map(([name, question]) =>
        ask(name, question, { line, gold: gold[name] }),
      ),
    },
  });
  return [
    side(document.state, {}),
    ...document.edits.map(({ from, to, gold }) =>
      side(
        document.state.replace(from, () => to),
        gold,
      ),
    ),
  ];
}

/** In one of its wordings, by turns. */
function ask(name: string, raw: WrittenQuestion, { line, gold }: { line: number; gold: unknown }): LabelledQuestion {
  const instructions = raw.instructions[line % raw.instructions.length];
  const question = parseQuestion({
    type: raw.type,
    instructions,
    ...(raw.criteria === undefined ? {} : { criteria: raw.criteria }),
  });
  return { task: name, question, ...toTarget(question, { gold: gold ?? raw.gold }) };
}
