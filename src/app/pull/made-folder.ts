// From files that were taken to a finished folder: bound to its graphs, probed, written, and started once as a server
// would start it.

import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { PullWatcher } from '../../cli/model-sources.ts';
import type { TakenFile } from '../../hub/model-files.ts';
import { type BoundRecipe, bindRecipe, requireSameInputs } from '../../recipe/bound-recipe.ts';
import { type DraftParts, draftManifest, renderDraft } from '../../recipe/draft-manifest.ts';
import type { GraphChoice, GraphPrecision } from '../../recipe/graph-files.ts';
import { RecipeError } from '../../recipe/recipe-error.ts';
import type { FolderOrigin } from '../../runtime/model-folder/manifest.ts';
import { readModelFolder } from '../../runtime/model-folder/model-folder.ts';
import { fillDraft, sealDraft } from './folder-draft.ts';
import { renderGolden } from './golden-file.ts';
import { type ProbedModel, probe, probeModel, requireReport } from './model-probe.ts';
import type { PlannedPull, PullSurroundings } from './planned-pull.ts';
import type { PulledPlaces } from './pulled-places.ts';

export interface MakingFolder {
  readonly planned: PlannedPull;
  readonly taken: readonly TakenFile[];
  readonly origin: FolderOrigin | undefined;
  readonly places: PulledPlaces;
  readonly around: PullSurroundings;
  readonly watcher: PullWatcher;
}

/** Fills the draft folder of `places`. @throws RecipeError, StartError; the signal's reason */
export async function makeFolder(making: MakingFolder): Promise<void> {
  const { planned, taken, places, around, watcher } = making;
  const { recipe } = planned;
  await fillDraft(
    places.draft,
    taken.map(({ localPath }) => localPath),
  );
  const bound = await bindGraphs(making);
  const reference = recipe.reference === undefined ? [] : [recipe.reference];
  const drafted = { ...frameOf(making), recipe, bound, tokens: recipe.statedTokens, dimensions: bound.dimensions ?? 1 };
  const all = namesOf([...recipe.graphs, ...reference]);
  const probed = await probeModel({
    folder: {
      path: places.draft,
      manifest: draftManifest({ ...drafted, graphs: all }),
      digest: '',
      ...planned.tokenizer,
    },
    wanted: recipe.graphs.map(({ precision }) => precision),
    statedTokens: recipe.statedTokens,
    rowBytes: around.rowBytes,
    today: dateOf(around.now),
    signal: watcher.signal,
    tell: (kind, text) => watcher.tell({ kind, text }),
  });
  const kept = Object.keys(probed.answers) as GraphPrecision[];
  await dropOthers(making, kept);
  const manifest = draftManifest({
    ...drafted,
    graphs: Object.fromEntries(kept.map((precision) => [precision, all[precision] ?? ''])),
    tokens: probed.tokens,
    dimensions: dimensionsOf(probed),
    probe: probed.figures,
  });
  const golden = renderGolden(manifest, probed.answers);
  await sealDraft(places.draft, { 'model.json': renderDraft(manifest), 'golden.json': golden });
  await startOnce(making);
}

/** Each graph that is kept or compared with takes and gives the same. */
async function bindGraphs({ planned, places, watcher }: MakingFolder): Promise<BoundRecipe> {
  const { recipe } = planned;
  const graphs = [...recipe.graphs, ...(recipe.reference === undefined ? [] : [recipe.reference])];
  let bound: BoundRecipe | undefined;
  for (const path of new Set(graphs.map((graph) => graph.path))) {
    watcher.tell({ kind: 'step', text: `Looking at ${path}` });
    const order = { kind: 'signature', path: join(places.draft, basename(path)) } as const;
    const { reports, fault } = await probe(watcher, order);
    if (fault !== undefined) throw new RecipeError(`${path}: ${fault}`);
    const next = bindRecipe(recipe, requireReport(reports, 'signature').signature);
    if (bound !== undefined) requireSameInputs(bound, next, path);
    bound ??= next;
  }
  if (bound === undefined) throw new RecipeError('The repository has no graph.');
  return bound;
}

function frameOf({ planned, origin, around }: MakingFolder): Pick<DraftParts, 'frame'> {
  const { plan, licence, request } = planned;
  const owner = origin?.repo.includes('/') ? origin.repo.split('/')[0] : undefined;
  const accepted = licence.condition !== undefined && request.acceptsLicence;
  return {
    frame: {
      id: plan.id,
      description: `${DESCRIPTIONS[planned.recipe.kind]}, from ${origin?.repo ?? 'a folder'}.`,
      release_date: dateOf(around.now),
      owned_by: owner ?? 'unknown',
      licence: licence.name,
      ...(origin !== undefined && { source: origin }),
      ...(accepted && { licence_accepted: dateOf(around.now) }),
    },
  };
}

const DESCRIPTIONS = {
  'text-encoder': 'Embeddings',
  entailment: 'Decisions by entailment',
  reranker: 'Reranking',
  'marker-encoder': 'Decisions',
} as const;

function namesOf(graphs: readonly GraphChoice[]): Partial<Record<GraphPrecision, string>> {
  return Object.fromEntries(graphs.map(({ precision, path }) => [precision, basename(path)]));
}

/** Graphs that were refused or only compared with, and their weights. */
async function dropOthers({ planned, places }: MakingFolder, kept: readonly GraphPrecision[]): Promise<void> {
  const { graphs, reference } = planned.recipe;
  const all = [...graphs, ...(reference === undefined ? [] : [reference])];
  const wanted = new Set(
    all.filter(({ precision }) => kept.includes(precision)).flatMap(({ path, data }) => [path, ...data]),
  );
  const others = all.flatMap(({ path, data }) => [path, ...data]).filter((path) => !wanted.has(path));
  for (const path of others) await rm(join(places.draft, basename(path)), { force: true });
}

/** Of an embedder's vectors, as they came. */
function dimensionsOf({ answers }: ProbedModel): number {
  return Object.values(answers)[0]?.[0]?.values[0]?.length ?? 0;
}

/** The check of every start, before anybody relies on it. */
async function startOnce({ places, watcher }: MakingFolder): Promise<void> {
  watcher.tell({ kind: 'step', text: 'Starting the finished folder once' });
  const folder = await readModelFolder(places.draft);
  const { fault } = await probe(watcher, { kind: 'start', folder });
  if (fault !== undefined) throw new RecipeError(`The finished folder does not start: ${fault}`);
}

function dateOf(now: Date): string {
  return now.toISOString().slice(0, 10);
}
