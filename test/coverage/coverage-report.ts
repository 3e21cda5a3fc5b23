// The figures of `npm run coverage`: vitest's map of each file, with what child processes and threads have run added.

import { z } from 'zod';
import type { CountAt } from './child-counts.ts';

const place = z.object({ line: z.int().optional(), column: z.number().nullish() });
const span = z.object({ start: place });
const hits = z.record(z.string(), z.int());
export const fileCoverage = z.object({
  path: z.string(),
  statementMap: z.record(z.string(), span),
  fnMap: z.record(z.string(), z.object({ loc: span })),
  branchMap: z.record(z.string(), z.object({ locations: z.array(span) })),
  s: hits,
  f: hits,
  b: z.record(z.string(), z.array(z.int())),
});

export type FileCoverage = z.infer<typeof fileCoverage>;

export interface Share {
  covered: number;
  total: number;
}

export interface Figures {
  readonly statements: Share;
  readonly branches: Share;
  readonly functions: Share;
}

/** Adds to a file's counts, in place. */
export function addCounts(file: FileCoverage, source: string, countAt: CountAt): void {
  const lines = [0];
  for (let at = source.indexOf('\n'); at >= 0; at = source.indexOf('\n', at + 1)) lines.push(at + 1);
  const countOf = ({ start: { line, column } }: z.infer<typeof span>): number =>
    line === undefined ? 0 : (countAt((lines[line - 1] ?? 0) + (column ?? 0)) ?? 0);
  for (const [id, where] of Object.entries(file.statementMap)) file.s[id] = (file.s[id] ?? 0) + countOf(where);
  for (const [id, { loc }] of Object.entries(file.fnMap)) file.f[id] = (file.f[id] ?? 0) + countOf(loc);
  for (const [id, { locations }] of Object.entries(file.branchMap))
    file.b[id] = locations.map((where, index) => (file.b[id]?.[index] ?? 0) + countOf(where));
}

/** Of all files by their folder, as `src/http`, and of all together. */
export function figuresOf(files: ReadonlyMap<string, FileCoverage>): Map<string, Figures> {
  const figures = new Map<string, Figures>();
  for (const [path, { s, f, b }] of [...files].sort(([a], [b]) => a.localeCompare(b))) {
    const [src = '', folder = ''] = path.split('/');
    const room = path.split('/').length > 2 ? `${src}/${folder}` : src;
    for (const name of [room, 'all']) {
      const { statements, branches, functions } = figures.get(name) ?? nothing();
      add(statements, Object.values(s));
      add(functions, Object.values(f));
      add(branches, Object.values(b).flat());
      figures.set(name, { statements, branches, functions });
    }
  }
  return figures;
}

const nothing = (): Figures => ({
  statements: { covered: 0, total: 0 },
  branches: { covered: 0, total: 0 },
  functions: { covered: 0, total: 0 },
});

function add(share: Share, counts: readonly number[]): void {
  share.total += counts.length;
  share.covered += counts.filter((count) => count > 0).length;
}
