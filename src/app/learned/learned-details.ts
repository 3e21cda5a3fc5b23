// A learned model in the words of `umpire models inspect`.

import { basename, resolve } from 'node:path';
import type { ModelDetails } from '../../cli/model-sources.ts';
import type { Config } from '../../config/schema.ts';
import type { ModelReference } from '../../domain/model-card.ts';
import { sum } from '../../domain/sum.ts';
import { type LearnedFolder, listLearnedFolders, readLearnedFolder } from './learned-folder.ts';

const PERCENT = 100;

/** @param wanted id, or path of its folder @returns undefined: it is no learned model @throws StartError when it is broken */
export async function findLearnedDetails(config: Config, wanted: string): Promise<ModelDetails | undefined> {
  const isWanted = (path: string) => basename(path) === wanted || resolve(path) === resolve(wanted);
  const path = listLearnedFolders(config.dataDir).find(isWanted);
  return path === undefined ? undefined : describeLearned(await readLearnedFolder(path));
}

function describeLearned({ path, digest, manifest, model }: LearnedFolder): ModelDetails {
  const { id, type, family, description, licence, limits } = manifest;
  const told = (what: string, value: string) => ({ what, value, from: 'model.json' });
  const standsOn = (what: string, { id, digest }: ModelReference) => told(what, `${id} (${digest})`);
  return {
    id,
    type,
    family,
    description,
    folder: path,
    digest,
    licence,
    licenceAccepted: undefined,
    source: undefined,
    precisions: [],
    limits,
    isCalibrated: true,
    recipe: [
      standsOn('base', model.base),
      ...(model.embedder === undefined ? [] : [standsOn('embedder', model.embedder)]),
      ...model.questions.map((question) =>
        told(`${question.type} ${question.asked.slice(0, 12)}`, tellQuestion(question)),
      ),
    ],
    probe: undefined,
  };
}

function tellQuestion({ options, rows, figures }: LearnedFolder['model']['questions'][number]): string {
  const [before, after] = [figures.zeroShot, figures.learned].map(({ accuracy: { mean } }) => {
    return Number.isNaN(mean) ? '–' : `${Math.round(mean * PERCENT)} %`;
  });
  return `${options.length} options, ${Math.round(sum(rows))} rows, accuracy ${before} before, ${after} learned`;
}
