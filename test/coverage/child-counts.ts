// What V8 wrote of one process or thread: how often it ran which part of each file of src/. Positions are those of the
// source, for Node only blanks types out.

import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const range = z.object({ startOffset: z.int(), endOffset: z.int(), count: z.int() });
const written = z.object({
  result: z.array(z.object({ url: z.string(), functions: z.array(z.object({ ranges: z.array(range) })) })),
});

type Range = z.infer<typeof range>;

/** How often what begins at an offset was run; undefined: nothing is known of it. */
export type CountAt = (offset: number) => number | undefined;

/** @returns by path from the root, as `src/main.ts` */
export function readChildCounts(file: string, root: string): Map<string, CountAt> {
  const { result } = written.parse(JSON.parse(readFileSync(file, 'utf8')));
  const counts = new Map<string, CountAt>();
  for (const { url, functions } of result) {
    if (!url.startsWith('file:')) continue;
    const path = relative(root, fileURLToPath(url.replace(/[?#].*$/, ''))).replaceAll('\\', '/');
    if (path.startsWith('src/')) counts.set(path, countAtOf(functions.flatMap(({ ranges }) => ranges)));
  }
  return counts;
}

/** The innermost range decides. */
export function countAtOf(ranges: readonly Range[]): CountAt {
  const outerFirst = ranges.toSorted((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
  return (offset) =>
    outerFirst.findLast(({ startOffset, endOffset }) => startOffset <= offset && offset < endOffset)?.count;
}
