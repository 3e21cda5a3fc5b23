// Every part of the comparison, in the order of its page, and what their figures are together.

import type { Versions } from '../machine/machine.ts';
import { bare } from './bare.ts';
import { decisions, embeddings } from './closed.ts';
import { foreign } from './foreign.ts';
import { kept } from './kept.ts';
import { memory } from './memory.ts';
import { open } from './open.ts';
import type { Part } from './part.ts';
import { scaling } from './scaling.ts';
import { shares } from './shares.ts';
import { splits } from './splits.ts';

const DECLARED = { decisions, open, embeddings, scaling, kept, shares, bare, memory, splits, ...foreign };

export type PartName = keyof typeof DECLARED;

export type Figures = {
  readonly [Name in PartName]: (typeof DECLARED)[Name] extends Part<infer PartFigures> ? PartFigures : never;
};

export const PARTS: { readonly [Name in PartName]: Part<Figures[Name]> } = DECLARED;
export const PART_NAMES = Object.keys(PARTS) as readonly PartName[];

/** When and on what a part was measured. */
export interface Measured<PartFigures> {
  readonly startedAt: string;
  readonly tookMs: number;
  readonly versions: Versions;
  /** Processes that wanted a core in the minute before. */
  readonly loadBefore: number;
  /** What others used of all processors meanwhile; null where the system does not say, undefined in files of before. */
  readonly othersShare?: number | null;
  readonly figures: PartFigures;
}

/** Those that were measured. */
export type Parts = { readonly [Name in PartName]?: Measured<Figures[Name]> };
