// What `umpire doctor` looks at, one thing after the other: what a start would trip over, and what it would not see. Reads
// only. How findings are shown, cli/doctor.ts knows.

import { lookup } from 'node:dns/promises';
import { accessSync, constants, existsSync } from 'node:fs';
import type { Finding, VerifiedModel } from '../../cli/program.ts';
import type { SettingFlags } from '../../cli/setting-flags.ts';
import { addressOf, addressToCall } from '../../cli/startup-notices.ts';
import { ConfigError, type LoadedConfig, loadConfig } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';
import { messageOf } from '../../domain/errors.ts';
import type { ModelCard } from '../../domain/model-card.ts';
import { findListenFault, isReachableFromOutside } from '../../http/listen-address.ts';
import type { ModelFolder } from '../../runtime/model-folder/manifest.ts';
import { readModelFolder } from '../../runtime/model-folder/model-folder.ts';
import { isAddon, loadAddon } from '../../runtime/native.ts';
import { findOpenDoors } from '../../storage/data-folder.ts';
import { inspectStore } from '../../storage/inspect-store.ts';
import { newestSchemaVersion } from '../../storage/migrations.ts';
import { isInUse, type StoreLocation, sqliteFile, storeNameOf } from '../../storage/store-connection.ts';
import { checkUpstream } from '../../upstream/check-upstream.ts';
import { buildCatalog, planConfiguredMemory } from '../app.ts';
import { findModelFolders } from '../configured-models.ts';
import { listCheckedUpstreams, listUpstreamModels } from '../configured-upstreams.ts';
import type { LearnedFolder } from '../learned/learned-folder.ts';
import { checkLearnedModels } from '../learned/listed-learned-models.ts';
import { locateStore } from '../store-location.ts';
import { lookAtClock, type OtherClock } from './clock.ts';
import { lookAtDevice } from './device.ts';
import { fault, note, ok, warning } from './findings.ts';
import { lookAtDisk, lookAtMemory, lookAtNode, lookAtProcessor } from './machine.ts';
import { findPortHolder } from './port-holder.ts';

const PROBE_TIMEOUT_MS = 2000;
const UPSTREAM_TIMEOUT_MS = 5000;

export interface Examination {
  readonly flags: SettingFlags;
  /** Loads the models of a folder and compares their golden answers; left out: they are not loaded. */
  readonly verify?: ((folder: string) => AsyncIterable<VerifiedModel>) | undefined;
  readonly nowMs: () => number;
}

export async function* diagnose({ flags, verify, nowMs }: Examination): AsyncGenerator<Finding> {
  yield lookAtNode();
  yield lookAtProcessor();
  const loaded = readConfig(flags);
  if (!('config' in loaded)) {
    yield* loaded.map((text) => fault('configuration', text));
    return;
  }
  const { config } = loaded;
  const changed = [...loaded.origins.values()].filter((origin) => origin !== 'default').length;
  yield ok('configuration', `valid; ${changed} ${changed === 1 ? 'setting is' : 'settings are'} not the default`);
  yield lookAtMemory(config);
  const runs = yield* lookAtAddress(config);
  yield* lookAtDataFolder(config);
  const clocks = [
    yield* lookAtStore(locateStore(config), { runs, nowMs }),
    yield* lookAtUpstreams(loaded, nowMs),
  ].flat();
  yield lookAtClock(clocks, nowMs());
  yield await lookAtTokenizer(config);
  const hasDevice = yield* lookAtDevice(config, { isQuick: verify === undefined });
  const folders = yield* lookAtModels(config);
  yield await lookAtModelMemory(config, folders);
  // Without the device no model is loaded, and none is to blame.
  if (verify !== undefined && hasDevice) for (const folder of folders) yield* lookAtAnswers(folder, verify);
}

function readConfig(flags: SettingFlags): LoadedConfig | readonly string[] {
  try {
    return loadConfig({ flags });
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

/** @returns whether a server runs there */
async function* lookAtAddress({ host, port }: Config): AsyncGenerator<Finding, boolean> {
  const listenFault = port === 0 ? undefined : await findListenFault({ host, port });
  const runs = listenFault !== undefined && (await isUmpire(addressToCall(host, port)));
  if (listenFault === undefined) yield ok('address', `${addressOf(host, port)} is free`);
  else if (runs) yield note('address', `an umpire listens on ${addressOf(host, port)} already`);
  else yield fault('address', listenFault, describeHolder(port));
  const addresses = await lookup(host, { all: true }).catch(() => []);
  if (addresses.some(({ address }) => isReachableFromOutside(address)))
    yield warning(
      'address',
      'other machines can reach it, and keys travel in headers',
      'put a proxy with TLS in front, or listen on 127.0.0.1 (--host)',
    );
  return runs;
}

function describeHolder(port: number): string | undefined {
  const holder = findPortHolder(port);
  return holder === undefined ? undefined : `it is ${holder}`;
}

/** Whatever else listens there has no `/readyz` of ours. */
async function isUmpire(address: string): Promise<boolean> {
  try {
    const reply = await fetch(`${address}/readyz`, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
    const body: unknown = await reply.json();
    return typeof body === 'object' && body !== null && 'status' in body && reply.headers.has('x-request-id');
  } catch {
    return false;
  }
}

function* lookAtDataFolder({ dataDir }: Config): Generator<Finding> {
  if (!existsSync(dataDir)) {
    yield ok('data folder', `${dataDir} is not there yet; the first start makes it`);
    return;
  }
  try {
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    yield ok('data folder', `${dataDir} can be written`);
  } catch {
    const remedy = 'run as its owner, or give this user the folder (chown), or set another dataDir';
    yield fault('data folder', `${dataDir} cannot be written by this user`, remedy);
    return;
  }
  yield* findOpenDoors(dataDir).map((door) => warning('data folder', door, `chmod -R go-rwx ${dataDir}`));
  yield lookAtDisk(dataDir);
}

interface StoreSurroundings {
  /** Whether a server runs at the address. */
  readonly runs: boolean;
  readonly nowMs: () => number;
}

/** @returns the clock of a database server */
async function* lookAtStore(
  store: StoreLocation,
  { runs, nowMs }: StoreSurroundings,
): AsyncGenerator<Finding, readonly OtherClock[]> {
  if (store.type === 'sqlite' && !existsSync(sqliteFile(store.dataDir))) {
    yield ok('store', 'SQLite; the first start makes it');
    return [];
  }
  try {
    const { schemaVersion: version, isWritable, clockAheadMs } = await inspectStore(store, nowMs);
    const told = `${storeNameOf(store)}, schema ${version ?? 'none yet'} of ${newestSchemaVersion}`;
    yield version === newestSchemaVersion
      ? ok('store', told)
      : note('store', `${told}; the next start brings it up to date`, 'make a backup first: `umpire db backup`');
    if (!isWritable)
      yield fault(
        'store',
        `${storeNameOf(store)} cannot be written`,
        'give this user the right to, or name the primary server',
      );
    if (!runs && isInUse(store))
      yield fault('store', 'another server uses this data folder', 'stop it, or set another dataDir');
    return clockAheadMs === undefined ? [] : [{ owner: 'the database', aheadMs: clockAheadMs }];
  } catch (error) {
    yield fault('store', messageOf(error), 'is it running, and the address right? A damaged file: `umpire db check`');
    return [];
  }
}

async function lookAtTokenizer({ engine }: Config): Promise<Finding> {
  if (engine.tokenizer === 'javascript') return ok('tokenizer', 'JavaScript, as configured');
  const addon = await loadAddon();
  if (isAddon(addon)) return ok('tokenizer', 'native');
  const remedy = 'with a C++ compiler: npm run native:build';
  return note('tokenizer', `JavaScript, which is slower: ${addon.reason}`, remedy);
}

/** @returns folders that are sound */
async function* lookAtModels(config: Config): AsyncGenerator<Finding, readonly string[]> {
  let folders: readonly string[];
  try {
    folders = findModelFolders(config);
  } catch (error) {
    yield fault('models', messageOf(error), 'set modelsDir or models');
    return [];
  }
  const sound: string[] = [];
  const found: ModelFolder[] = [];
  for (const folder of folders) {
    try {
      const read = await readModelFolder(folder);
      const { manifest, digest } = read;
      found.push(read);
      sound.push(folder);
      const shown = digest.slice(0, 'sha256:'.length + 12);
      yield ok(`model ${manifest.id}`, `${manifest.type}, ${shown}, all checksums right`);
    } catch (error) {
      yield fault('models', messageOf(error), 'get the folder anew, or take it out of models');
    }
  }
  const learned = yield* lookAtLearned(config, found);
  const cards = found.map(({ manifest }) => nameCard(manifest.id, manifest.type));
  yield* lookAtNames([...cards, ...learned.map((id) => nameCard(id, 'decision'))], config);
  return sound;
}

/** A server works without them. @returns ids of those that it knows, served or not */
async function* lookAtLearned(
  config: Config,
  loaded: readonly ModelFolder[],
): AsyncGenerator<Finding, readonly string[]> {
  const ids: string[] = [];
  const taken = new Set(loaded.map(({ manifest }) => manifest.id));
  for (const { id, folder, fault: reason } of await checkLearnedModels(config, loaded)) {
    if (!taken.has(id)) ids.push(id);
    const remedy = `learn it again, or remove it: umpire models remove ${id}`;
    if (folder === undefined || reason !== undefined) yield warning(`model ${id}`, `not served: ${reason}`, remedy);
    else yield ok(`model ${id}`, tellLearned(folder));
  }
  return ids;
}

function tellLearned({ manifest: { base, questions }, digest }: LearnedFolder): string {
  const shown = digest.slice(0, 'sha256:'.length + 12);
  return `learned on ${base.id}, ${shown}, ${questions.length === 1 ? '1 question' : `${questions.length} questions`}, all checksums right`;
}

/** By the estimates of a start. @param folders sound ones */
async function lookAtModelMemory(config: Config, folders: readonly string[]): Promise<Finding> {
  try {
    const { takenBytes, budgetBytes, shortBytes } = await planConfiguredMemory(config, folders);
    const [taken, budget, short] = [takenBytes, budgetBytes, shortBytes].map(
      (bytes) => `${Math.ceil(bytes / 2 ** 20)} MiB`,
    );
    const told = `the models may need ${taken} of the ${budget} that there are for them`;
    if (shortBytes === 0) return ok('memory', told);
    const remedy = 'take smaller caches (engine.stateCacheBytes) or fewer workers (engine.workers)';
    return warning('memory', `${told}; full caches ${short} more than there are`, remedy);
  } catch (error) {
    return fault('memory', messageOf(error));
  }
}

async function* lookAtAnswers(
  folder: string,
  verify: (folder: string) => AsyncIterable<VerifiedModel>,
): AsyncGenerator<Finding> {
  try {
    for await (const { id, device } of verify(folder))
      yield ok(`model ${id}`, `answers its golden cases as stored, on ${device}`);
  } catch (error) {
    yield fault('models', messageOf(error), 'get the folder anew; on a new kind of machine please report it');
  }
}

/** Two models of one id, an alias of no model: as a start would find it. */
function* lookAtNames(local: readonly ModelCard[], config: Config): Generator<Finding> {
  const offered = listUpstreamModels(config).map(({ model }) => nameCard(model.id, 'llm'));
  try {
    buildCatalog([{ models: [...local, ...offered] }], undefined, config.aliases);
  } catch (error) {
    yield fault('models', messageOf(error), 'rename one of them in models, upstreams or aliases');
  }
}

function nameCard(id: string, type: ModelCard['type']): ModelCard {
  const price = { inputMicroUsd: 0, cachedInputMicroUsd: 0, outputMicroUsd: 0 };
  return { id, type, description: '', ownedBy: '', releaseDate: '', price };
}

/** @returns their clocks */
async function* lookAtUpstreams(
  loaded: LoadedConfig,
  nowMs: () => number,
): AsyncGenerator<Finding, readonly OtherClock[]> {
  const upstreams = listCheckedUpstreams(loaded);
  // All at once: each may take until its limit.
  const findings = upstreams.map(async (upstream) => {
    const found = await checkUpstream(upstream, AbortSignal.timeout(UPSTREAM_TIMEOUT_MS));
    return { found, readAtMs: nowMs() };
  });
  const clocks: OtherClock[] = [];
  for (const [index, { name }] of upstreams.entries()) {
    const asked = await findings[index];
    if (asked === undefined) continue;
    const { state, text, dateMs } = asked.found;
    yield { ok, warning: upstreamWarning, fault: upstreamFault }[state](`upstream ${name}`, text);
    if (dateMs !== undefined) clocks.push({ owner: `the upstream ${name}`, aheadMs: asked.readAtMs - dateMs });
  }
  return clocks;
}

function upstreamWarning(subject: string, text: string): Finding {
  return warning(subject, text, 'see upstreams[].models[].upstreamModel');
}

function upstreamFault(subject: string, text: string): Finding {
  return fault(
    subject,
    text,
    'start it, or see baseUrl and apiKeyEnv of the upstream; the other models work without it',
  );
}
