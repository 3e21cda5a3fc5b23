// Loads one model into this thread: graphs, tokenizer, golden check, warm-up. Which models and which device is
// worker.ts's.

import { messageOf } from '../domain/errors.ts';
import { checkTogether } from './batch-check.ts';
import { MarkerEncoder } from './families/marker-encoder/marker-encoder.ts';
import { PairScorer } from './families/pair-scorer/pair-scorer.ts';
import { canPadRows } from './families/row-feeds.ts';
import type { SharedRows } from './families/row-runs.ts';
import { UNOPENED } from './families/split-encoder/row-graphs.ts';
import { SplitEncoder } from './families/split-encoder/split-encoder.ts';
import type { StateMemory } from './families/split-encoder/state-memory.ts';
import { TextEncoder } from './families/text-encoder/text-encoder.ts';
import type { ModelFamily } from './family-tasks.ts';
import { type CheckedModel, checkDecisions, checkEmbeddings, checkRankings } from './golden-check.ts';
import { type DecidingFamily, isRerankerFamily, sharedCasesOf } from './golden-runs.ts';
import { type OpenedGraphs, type OpenerSettings, openGraphs } from './graph-opener.ts';
import type { LoadedModelReport } from './load-report.ts';
import type { BatchSetup } from './messages.ts';
import { readFolderFile } from './model-folder/folder-file.ts';
import type { DecisionCase, EmbeddingCase, GoldenFile, RankingCase } from './model-folder/golden.ts';
import type { GraphIo, ModelFolder } from './model-folder/manifest.ts';
import { findPrecision } from './model-folder/precision.ts';
import { inTurns, type RunSharing, rolesInUse, sharingOf } from './run-sharing.ts';
import type { GraphSession } from './session.ts';
import { StartError } from './start-error.ts';
import { openTokenizer, type TokenizerChoice } from './tokenizer/open-tokenizer.ts';
import { isWordPiece, type Tokenizer } from './tokenizer/tokenizer.ts';

/** A model that answers and agrees with its golden cases. */
export interface LoadedModel {
  readonly folder: ModelFolder;
  readonly report: LoadedModelReport;
  readonly warnings: readonly string[];
  readonly family: ModelFamily;
  readonly probe: CheckedModel['probe'];
  /** Ends its sessions. It answers nothing any more. */
  readonly close: () => Promise<void>;
}

const WIDTHS_DIFFER =
  'answers differ by the number of threads on this host: a caller who is alone gets one worker, too';

export interface LoadSettings extends OpenerSettings {
  /** Of this thread: all its decision models share one. */
  readonly memory: StateMemory;
  readonly tokenizer?: TokenizerChoice | undefined;
  /** How tasks share runs where the device gains by it. Default: never */
  readonly batch?: BatchSetup | undefined;
}

/** @throws StartError whose message names the folder, the file and the reason */
export async function loadModel(folder: ModelFolder, settings: LoadSettings): Promise<LoadedModel> {
  const startedMs = performance.now();
  const precision = findPrecision(folder, settings.device, settings.batch?.isForced) ?? '';
  const parts = await openModel(folder, precision, settings);
  try {
    return await proveModel({ ...parts, precision, settings, startedMs });
  } catch (error) {
    await closeParts(parts);
    throw error;
  }
}

async function closeParts({ opened, sharing }: FamilyParts): Promise<void> {
  for (const session of opened.sessions.values()) await session.close();
  await sharing?.close();
}

interface OpenedModel extends FamilyParts {
  readonly precision: string;
  readonly settings: LoadSettings;
  readonly startedMs: number;
}

async function proveModel(model: OpenedModel): Promise<LoadedModel> {
  const { folder, precision, opened, settings, startedMs } = model;
  const family = await within(folder, 'model.json', async () => makeFamily(model));
  const cases = await within(folder, 'golden.json', () => readCases(folder));
  const checked = await within(folder, 'golden.json', () => checkFamily(family, cases, precision));
  const { timedCases, probe } = checked;
  const { optimizedGraphs } = opened;
  const warnings = [...opened.warnings];
  const isProven = !opened.isWidened || (await settings.width?.prove(checked.sample));
  if (!isProven) warnings.push(WIDTHS_DIFFER);
  const { batches, fault } = await within(folder, 'golden.json', () =>
    checkTogether(family, sharedCasesOf(family, cases)),
  );
  if (fault !== undefined) warnings.push(`${folder.manifest.id} shares no runs: ${fault}`);
  const loadMs = performance.now() - startedMs;
  const readsSharedMemory = family instanceof SplitEncoder && (await family.readsSharedMemory());
  const modelId = folder.manifest.id;
  const report = {
    modelId,
    device: settings.device,
    precision,
    loadMs,
    timedCases,
    optimizedGraphs,
    readsSharedMemory,
    ...(family instanceof SplitEncoder && family.rows !== undefined && { takesWhole: true }),
    ...(batches.length > 0 && { batches }),
  };
  return { folder, report, warnings, family, probe, close: () => closeParts(model) };
}

/** Tokenizer and graphs in memory: all that a family is made of. @throws StartError as `loadModel` does */
export async function openModel(folder: ModelFolder, precision: string, settings: LoadSettings): Promise<FamilyParts> {
  const tokenizer = await within(folder, 'tokenizer.json', () => openTokenizer(folder.path, settings.tokenizer));
  const opened = await within(folder, `the ${precision} graphs`, () => openFor(folder, precision, settings));
  return { folder, tokenizer, opened, memory: settings.memory, sharing: sharingOf(folder, { precision, ...settings }) };
}

async function openFor(folder: ModelFolder, precision: string, settings: LoadSettings): Promise<OpenedGraphs> {
  const files = folder.manifest.graphs[precision];
  if (files === undefined) throw new Error(`model.json names none that device ${settings.device} runs`);
  const opened = await openGraphs(folder, rolesInUse(files, { precision, ...settings }), settings);
  return { ...opened, sessions: inTurns(opened.sessions, settings) };
}

interface FamilyParts {
  readonly folder: ModelFolder;
  readonly tokenizer: Tokenizer;
  readonly opened: OpenedGraphs;
  readonly memory: StateMemory;
  readonly sharing?: RunSharing | undefined;
}

/** The model behind its family's code. @throws Error where the tokenizer or a graph is none of the family */
export function makeFamily({ folder: { manifest }, tokenizer, opened, memory, sharing }: FamilyParts): ModelFamily {
  const graph = (role: string) => requireGraph(opened, role);
  switch (manifest.family) {
    case 'split-encoder': {
      if (!isWordPiece(tokenizer)) throw new Error('the family split-encoder reads WordPiece alone');
      const [batch, headRows] = [opened.sessions.get('batch'), opened.sessions.get('head-rows')];
      if (sharing !== undefined && batch !== undefined && headRows !== undefined) {
        const sessions = { batch, headRows, precise: () => sharing.precise('batch') };
        const rows = { sessions, limits: sharing };
        return new SplitEncoder({
          manifest,
          tokenizer,
          memory,
          rows,
          encode: UNOPENED,
          answer: UNOPENED,
          head: UNOPENED,
        });
      }
      const graphs = { encode: graph('encode'), answer: graph('answer'), head: graph('head') };
      const decide = opened.sessions.get('decide');
      return new SplitEncoder({ manifest, tokenizer, memory, ...graphs, decide });
    }
    case 'text-encoder':
      return new TextEncoder({ manifest, tokenizer, embed: graph('embed'), rows: rowsOf(manifest, 'embed', sharing) });
    case 'pair-scorer':
      return new PairScorer({ manifest, tokenizer, score: graph('score'), rows: rowsOf(manifest, 'score', sharing) });
    case 'marker-encoder':
      return new MarkerEncoder({
        manifest,
        tokenizer,
        score: graph('score'),
        rows: sharing && rowsIn('score', sharing),
      });
  }
}

/** On a device, where the graph can tell padding. */
function rowsOf(
  { graph_io: graphIo }: { readonly graph_io: GraphIo },
  role: string,
  sharing: RunSharing | undefined,
): SharedRows | undefined {
  return sharing && canPadRows(graphIo) ? rowsIn(role, sharing) : undefined;
}

function rowsIn(role: string, { tokens, isExact, precise }: RunSharing): SharedRows {
  return { mostTokens: tokens, isExact, precise: () => precise(role) };
}

async function readCases(folder: ModelFolder): Promise<readonly unknown[]> {
  return ((await readJson(folder, 'golden.json')) as GoldenFile<unknown>).cases;
}

async function checkFamily(family: ModelFamily, cases: readonly unknown[], precision: string): Promise<CheckedModel> {
  return requireAgreement(await checkCases(family, cases, precision));
}

function checkCases(family: ModelFamily, cases: readonly unknown[], precision: string): Promise<CheckedModel> {
  if (family instanceof TextEncoder) return checkEmbeddings(family, cases as EmbeddingCase[], precision);
  if (isRerankerFamily(family)) return checkRankings(family, cases as RankingCase[], precision);
  return checkDecisions(family as DecidingFamily, cases as DecisionCase[], precision);
}

function requireAgreement(checked: CheckedModel): CheckedModel {
  if (checked.fault !== undefined) throw new Error(`golden mismatch: ${checked.fault}`);
  return checked;
}

function requireGraph({ sessions }: OpenedGraphs, role: string): GraphSession {
  const session = sessions.get(role);
  if (session === undefined) throw new Error(`no graph for ${role}`);
  return session;
}

async function readJson(folder: ModelFolder, name: string): Promise<unknown> {
  return JSON.parse((await readFolderFile(folder.path, name)).toString());
}

/** Whatever goes wrong in there is said with folder and file. */
async function within<T>(folder: ModelFolder, name: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    const reason = messageOf(error);
    throw new StartError(`model folder ${folder.path}: ${name}: ${reason}`, { cause: error });
  }
}
