// Writes a learned model as a folder, at once: until it is whole nobody sees it, and whatever cuts this off leaves the
// model that was there, or none.

import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../domain/errors.ts';
import { measuredToJson } from '../../domain/learned-figures.ts';
import type { FrozenQuestion } from '../../learning/frozen-rows.ts';
import { writeHeads } from '../../learning/heads-file.ts';
import type { LearnedModel } from '../../learning/learned-model.ts';
import { writeFrozenRows } from '../../learning/rows-file.ts';
import { type LearnedManifest, parseLearnedManifest } from '../../runtime/model-folder/learned-manifest.ts';
import type { DecisionManifest } from '../../runtime/model-folder/manifest.ts';
import { LEARNED_FAMILY } from '../../runtime/model-folder/manifest-schema.ts';
import { StartError } from '../../runtime/start-error.ts';
import { cleanPlaces, fillDraft, putInPlace, sealDraft } from '../pull/folder-draft.ts';
import { placesOf, pulledModelsDir } from '../pull/pulled-places.ts';
import { HEADS_FILE, type LearnedFolder, ROWS_FILE, readAnyLearned, readLearnedFolder } from './learned-folder.ts';

const FULL = ['ENOSPC', 'EDQUOT', 'EFBIG'];

export interface LearnedDraft {
  readonly dataDir: string;
  readonly model: LearnedModel;
  /** Everything that was learned from, for rows that are added later. */
  readonly rows: readonly FrozenQuestion[];
  /** Its price, limits and licence hold for what stands on it. */
  readonly base: DecisionManifest;
  readonly now: Date;
}

/**
 * Replaces the learned model of that id. Whoever calls holds the lock of the id.
 * @returns the folder, read back and verified
 * @throws StartError when it cannot be written; the model that was there stays
 */
export async function writeLearnedFolder(given: LearnedDraft): Promise<LearnedFolder> {
  const { dataDir, model, rows } = given;
  const places = placesOf(dataDir, model.id);
  const manifest = parseLearnedManifest(JSON.parse(JSON.stringify(manifestOf(given))));
  try {
    await cleanPlaces(places);
    await fillDraft(places.draft, []);
    await writeFile(join(places.draft, HEADS_FILE), writeHeads(model.questions));
    await writeFile(join(places.draft, ROWS_FILE), writeFrozenRows(rows));
    await sealDraft(places.draft, { 'model.json': `${JSON.stringify(manifest, null, 2)}\n` });
    // What a server would not take must not replace what it takes.
    await readAnyLearned(places.draft);
    await putInPlace(places);
  } catch (error) {
    await rm(places.draft, { recursive: true, force: true }).catch(() => undefined);
    throw tellUnwritten(error, pulledModelsDir(dataDir));
  }
  return await readLearnedFolder(places.folder);
}

/** Of an earlier one nothing but its id and its place goes on. */
function manifestOf({ model, base, now }: LearnedDraft): LearnedManifest {
  const { id, embedder, dimensions, questions } = model;
  return {
    format: 3,
    id,
    type: 'decision',
    family: LEARNED_FAMILY,
    description: `Learned on ${model.base.id}: ${questions.length} ${questions.length === 1 ? 'question' : 'questions'}.`,
    release_date: now.toISOString().slice(0, 10),
    owned_by: 'local',
    licence: base.licence,
    price: base.price,
    base: model.base,
    ...(embedder === undefined ? {} : { embedder }),
    dimensions,
    limits: { ...base.limits },
    questions: questions.map(({ type, asked, options, rows, figures }) => {
      return {
        type,
        asked,
        options: [...options],
        rows: [...rows],
        figures: { zero_shot: measuredToJson(figures.zeroShot), learned: measuredToJson(figures.learned) },
      };
    }),
  };
}

function tellUnwritten(error: unknown, models: string): StartError {
  const isFull = error instanceof Error && 'code' in error && FULL.includes(String(error.code));
  const reason = isFull ? `there is no room left in ${models}` : messageOf(error);
  return new StartError(`The learned model could not be written: ${reason}. What was there before stays.`, {
    cause: error,
  });
}
