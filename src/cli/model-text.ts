// A model and what a pull would make of one, as people and programs read them.

import type { RecipeFact } from '../recipe/recipe.ts';
import type { ModelDetails, PullPlan } from './model-sources.ts';
import { clean, renderTable } from './table.ts';

const UNITS = ['B', 'kB', 'MB', 'GB'] as const;
const STEP = 1000;

/** `1.7 GB` */
export function tellSize(bytes: number): string {
  const power = Math.min(UNITS.length - 1, bytes < STEP ? 0 : Math.floor(Math.log10(bytes) / 3));
  const value = bytes / STEP ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[power]}`;
}

/** What was read, and where: shown before anything is written. */
export function renderPlan({ id, source, commit, licence, licenceCondition, recipe, files }: PullPlan): string {
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const facts = [
    ['id', id],
    ['from', source],
    ...(commit === undefined ? [] : [['commit', commit]]),
    ['licence', licenceCondition === undefined ? licence : `${licence}: ${licenceCondition}`],
    ['size', `${tellSize(total)} in ${files.length} files`],
  ];
  const rows = files.map(({ path, bytes }) => [path, tellSize(bytes)]);
  return [renderTable(facts), renderRecipe(recipe), renderTable([['FILE', 'SIZE'], ...rows], new Set([1]))].join('\n');
}

export function renderDetails(model: ModelDetails): string {
  const { source, probe, recipe } = model;
  const facts = [
    ['id', model.id],
    ['type', `${model.type} (${model.family})`],
    ['description', model.description],
    ['licence', model.licence + (model.licenceAccepted === undefined ? '' : `, accepted ${model.licenceAccepted}`)],
    ...(source === undefined
      ? []
      : [
          ['from', `${source.repo} of ${source.endpoint}`],
          ['commit', source.commit],
        ]),
    ['folder', model.folder],
    ['digest', model.digest],
    ['precisions', model.precisions.join(', ')],
    ...Object.entries(model.limits).map(([name, limit]) => [name.replaceAll('_', ' '), limit.toLocaleString('en-US')]),
    ...(model.isCalibrated === undefined ? [] : [['calibrated', tellCalibrated(model.isCalibrated)]]),
    ...(probe === undefined ? [] : probeRows(probe)),
  ];
  const told = renderTable(facts);
  return recipe.length === 0 ? told : `${told}\n${renderRecipe(recipe)}`;
}

export function detailsToJson(model: ModelDetails): object {
  const { probe } = model;
  return {
    id: model.id,
    type: model.type,
    family: model.family,
    description: model.description,
    folder: model.folder,
    digest: model.digest,
    licence: model.licence,
    licence_accepted: model.licenceAccepted ?? null,
    source: model.source ?? null,
    precisions: model.precisions,
    limits: model.limits,
    calibrated: model.isCalibrated ?? null,
    recipe: model.recipe,
    probe:
      probe === undefined
        ? null
        : {
            date: probe.date,
            agreement: probe.agreement,
            peak_bytes: probe.peakBytes,
            stated_tokens: probe.statedTokens,
          },
  };
}

export function planToJson(plan: PullPlan): object {
  return {
    id: plan.id,
    source: plan.source,
    commit: plan.commit ?? null,
    licence: plan.licence,
    licence_condition: plan.licenceCondition ?? null,
    recipe: plan.recipe,
    files: plan.files,
  };
}

function renderRecipe(recipe: readonly RecipeFact[]): string {
  return renderTable([['WHAT', 'VALUE', 'FROM'], ...recipe.map(({ what, value, from }) => [what, clean(value), from])]);
}

function tellCalibrated(isCalibrated: boolean): string {
  return isCalibrated ? 'yes' : 'no: `umpire calibrate` fits its probabilities to your labelled rows';
}

function probeRows({ date, agreement, peakBytes, statedTokens }: NonNullable<ModelDetails['probe']>): string[][] {
  return [
    ['probed', date],
    ...Object.entries(agreement).map(([precision, words]) => [precision, words]),
    ['memory of a row', `${tellSize(peakBytes)} at most, in each worker`],
    ['tokens it could read', statedTokens.toLocaleString('en-US')],
  ];
}
