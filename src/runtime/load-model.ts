// Loads one model into this thread: graphs, tokenizer, golden check, warm-up. Which models and which device is
// worker.ts's.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../domain/errors.ts';
import { SplitEncoder } from './families/split-encoder/split-encoder.ts';
import type { StateMemory } from './families/split-encoder/state-memory.ts';
import { TextEncoder } from './families/text-encoder/text-encoder.ts';
import { type CheckedModel, checkDecisions, checkEmbeddings } from './golden-check.ts';
import { type OpenedGraphs, type OpenerSettings, openGraphs } from './graph-opener.ts';
import type { LoadedModelReport } from './messages.ts';
import type { DecisionCase, EmbeddingCase, GoldenFile } from './model-folder/golden.ts';
import type { ModelFolder } from './model-folder/manifest.ts';
import type { GraphSession } from './session.ts';
import { StartError } from './start-error.ts';
import { openTokenizer, type TokenizerChoice } from './tokenizer/open-tokenizer.ts';
import { isWordPiece, type Tokenizer } from './tokenizer/tokenizer.ts';

/** A model that answers and agrees with its golden cases. */
export interface LoadedModel {
  readonly report: LoadedModelReport;
  readonly warnings: readonly string[];
  readonly family: SplitEncoder | TextEncoder;
  readonly probe: CheckedModel['probe'];
}

const WIDTHS_DIFFER =
  'answers differ by the number of threads on this host: a caller who is alone gets one worker, too';

const CPU_PRECISIONS = ['int8', 'fp32'];
const DEVICE_PRECISIONS = ['fp16', 'fp32'];

/** @returns the first precision the device prefers that the model has */
export function findPrecision({ manifest }: ModelFolder, device: string): string | undefined {
  const preferred = device === 'cpu' ? CPU_PRECISIONS : DEVICE_PRECISIONS;
  return preferred.find((precision) => manifest.graphs[precision] !== undefined);
}

export interface LoadSettings extends OpenerSettings {
  /** Of this thread: all its decision models share one. */
  readonly memory: StateMemory;
  readonly tokenizer?: TokenizerChoice | undefined;
}

/** @throws StartError whose message names the folder, the file and the reason */
export async function loadModel(folder: ModelFolder, settings: LoadSettings): Promise<LoadedModel> {
  const startedMs = performance.now();
  const precision = findPrecision(folder, settings.device) ?? '';
  const tokenizer = await within(folder, 'tokenizer.json', () => openTokenizer(folder.path, settings.tokenizer));
  const opened = await within(folder, `the ${precision} graphs`, () => openFor(folder, precision, settings));
  const { family, checked } = await within(folder, 'golden.json', () =>
    checkedFamily({ folder, precision, tokenizer, opened, memory: settings.memory }),
  );
  const { timedCases, probe } = checked;
  const { optimizedGraphs } = opened;
  const warnings = [...opened.warnings];
  const isProven = !opened.isWidened || (await settings.width?.prove(checked.sample));
  if (!isProven) warnings.push(WIDTHS_DIFFER);
  const loadMs = performance.now() - startedMs;
  const readsSharedMemory = family instanceof SplitEncoder && (await family.readsSharedMemory());
  const modelId = folder.manifest.id;
  const report = { modelId, precision, loadMs, timedCases, optimizedGraphs, readsSharedMemory };
  return { report, warnings, family, probe };
}

async function openFor(folder: ModelFolder, precision: string, settings: OpenerSettings): Promise<OpenedGraphs> {
  const files = folder.manifest.graphs[precision];
  if (files === undefined) throw new Error(`model.json names none that device ${settings.device} runs`);
  return openGraphs(folder, files, settings);
}

interface FamilyParts {
  readonly folder: ModelFolder;
  readonly precision: string;
  readonly tokenizer: Tokenizer;
  readonly opened: OpenedGraphs;
  readonly memory: StateMemory;
}

/** The model behind its family's code, golden cases run. */
async function checkedFamily({ folder, precision, tokenizer, opened, memory }: FamilyParts) {
  const { manifest } = folder;
  const { cases } = (await readJson(folder, 'golden.json')) as GoldenFile<unknown>;
  const graph = (role: string) => requireGraph(opened, role);
  if (manifest.family === 'split-encoder') {
    if (!isWordPiece(tokenizer)) throw new Error('the family split-encoder reads WordPiece alone');
    const graphs = { encode: graph('encode'), answer: graph('answer'), head: graph('head') };
    const decide = opened.sessions.get('decide');
    const family = new SplitEncoder({ manifest, tokenizer, memory, ...graphs, decide });
    return { family, checked: requireAgreement(await checkDecisions(family, cases as DecisionCase[], precision)) };
  }
  const family = new TextEncoder({ manifest, tokenizer, embed: graph('embed') });
  return { family, checked: requireAgreement(await checkEmbeddings(family, cases as EmbeddingCase[], precision)) };
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
  return JSON.parse(await readFile(join(folder.path, name), 'utf8'));
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
