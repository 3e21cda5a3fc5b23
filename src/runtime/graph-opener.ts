// Opens the graphs of one model: optimised copies from the cache where it can be used, else as they are. A cache that
// cannot be read or written slows a start down, and never stops it.

import { join } from 'node:path';
import { messageOf } from '../domain/errors.ts';
import { provideEntry } from './graph-cache.ts';
import type { GraphFiles, ModelFolder } from './model-folder/manifest.ts';
import {
  type GraphSession,
  LIBRARY_VERSION,
  OPTIMIZATION,
  openGraph,
  openOptimizedGraph,
  type SessionSettings,
  writeOptimizedGraph,
} from './session.ts';
import { inTurn } from './turn.ts';
import { type RunWidth, WidthSession } from './width-session.ts';

const GRAPH_NAME = 'graph.onnx';
const WEIGHTS_NAME = 'weights.bin';

/** What these take is bounded by one window and one short question. */
const BOUNDED_ROLES: ReadonlySet<string> = new Set(['decide']);

/** What a run of these takes is too little to be shared among threads. */
const NARROW_ROLES: ReadonlySet<string> = new Set(['head']);

export interface OpenerSettings extends SessionSettings {
  readonly cacheFolder: string | undefined;
  readonly turn: SharedArrayBuffer;
  /** Of this worker: how wide its runs are. Default: narrow. */
  readonly width?: RunWidth;
}

export interface OpenedGraphs {
  readonly sessions: ReadonlyMap<string, GraphSession>;
  /** What the cache gave; `written` if any graph was optimised anew, `none` where it was not used. */
  readonly optimizedGraphs: 'read' | 'written' | 'none';
  readonly warnings: readonly string[];
  /** Whether runs may be wide. */
  readonly isWidened: boolean;
}

/** @throws the library's error when a graph cannot be opened at all */
export async function openGraphs(
  folder: ModelFolder,
  files: GraphFiles,
  settings: OpenerSettings,
): Promise<OpenedGraphs> {
  const sessions = new Map<string, GraphSession>();
  const warnings: string[] = [];
  const states = new Set<string>();
  let isWidened = false;
  for (const [role, name] of Object.entries(files)) {
    const source = { folder, role, path: join(folder.path, name) };
    const opened = await openThroughCache(source, { ...settings, isBounded: BOUNDED_ROLES.has(role) });
    const session = opened.state === 'none' ? opened.session : await widened(source, opened.session, settings);
    isWidened ||= session !== opened.session;
    sessions.set(role, session);
    states.add(opened.state);
    if (opened.warning !== undefined) warnings.push(opened.warning);
  }
  const optimizedGraphs = states.has('none') ? 'none' : states.has('written') ? 'written' : 'read';
  return { sessions, optimizedGraphs, warnings, isWidened };
}

/** The same graph a second time, over the same mapped weights. Without a cache it would have weights of its own. */
async function widened(source: GraphSource, narrow: GraphSession, settings: OpenerSettings): Promise<GraphSession> {
  const { width } = settings;
  if (width === undefined || width.cores.length <= settings.threads || NARROW_ROLES.has(source.role)) return narrow;
  const wide = await openThroughCache(source, {
    ...settings,
    threads: width.cores.length,
    cores: width.cores,
    isBounded: BOUNDED_ROLES.has(source.role),
  });
  return new WidthSession(narrow, wide.session, width);
}

interface GraphSource {
  readonly folder: ModelFolder;
  readonly role: string;
  readonly path: string;
}

interface OpenedGraph {
  readonly session: GraphSession;
  readonly state: OpenedGraphs['optimizedGraphs'];
  readonly warning?: string;
}

async function openThroughCache(source: GraphSource, settings: OpenerSettings): Promise<OpenedGraph> {
  const { cacheFolder } = settings;
  // What an optimised graph holds on other devices is theirs to keep.
  if (cacheFolder === undefined || settings.device !== 'cpu') {
    return { session: await openGraph(source.path, settings), state: 'none' };
  }
  try {
    return await inTurn(settings.turn, () => openCached(source, cacheFolder, settings));
  } catch (error) {
    const reason = messageOf(error);
    const warning = `optimised graphs cannot be kept in ${cacheFolder}: ${reason}`;
    return { session: await openGraph(source.path, settings), state: 'none', warning };
  }
}

async function openCached(source: GraphSource, cacheFolder: string, settings: SessionSettings): Promise<OpenedGraph> {
  const { folder, role, path } = source;
  const entry = {
    cacheFolder,
    label: `${folder.manifest.id}-${role}`,
    inputs: [folder.digest, path.slice(folder.path.length), LIBRARY_VERSION, OPTIMIZATION],
    build: (draft: string) =>
      writeOptimizedGraph(path, settings, { graphPath: join(draft, GRAPH_NAME), weightsName: WEIGHTS_NAME }),
  };
  const first = await provideEntry(entry);
  try {
    return { session: await openOptimizedGraph(join(first.folder, GRAPH_NAME), settings), state: first.state };
  } catch {
    // Intact, yet the library refuses it: made by something that the key does not know. Once more from the start.
    const second = await provideEntry(entry, true);
    return { session: await openOptimizedGraph(join(second.folder, GRAPH_NAME), settings), state: second.state };
  }
}
