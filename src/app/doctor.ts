// What `umpire doctor` looks at, one thing after the other: what a start would trip over, and what it would not see. Reads
// only. How findings are shown, cli/doctor.ts knows.

import { lookup } from 'node:dns/promises';
import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import type { Finding } from '../cli/program.ts';
import type { SettingFlags } from '../cli/setting-flags.ts';
import { addressOf, addressToCall } from '../cli/startup-notices.ts';
import { ConfigError, type LoadedConfig, loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { messageOf } from '../domain/errors.ts';
import type { ModelCard } from '../domain/model-card.ts';
import { findListenFault, isReachableFromOutside } from '../http/listen-address.ts';
import { readModelFolder } from '../runtime/model-folder/model-folder.ts';
import { isAddon, loadAddon } from '../runtime/native.ts';
import { findOpenDoors } from '../storage/data-folder.ts';
import { newestSchemaVersion } from '../storage/migrations.ts';
import { isInUse, type StoreLocation, sqliteFile, storeNameOf } from '../storage/store-connection.ts';
import { findStoreVersion } from '../storage/store-tools.ts';
import { checkUpstream } from '../upstream/check-upstream.ts';
import { buildCatalog, locateStore } from './app.ts';
import { findModelFolders } from './configured-models.ts';
import { listCheckedUpstreams } from './configured-upstreams.ts';

const BYTES_PER_MIB = 2 ** 20;
/** The caches of graphs take some 100 MiB; the rest is for the ledger to grow. */
const LITTLE_SPACE_BYTES = 1024 * BYTES_PER_MIB;
const PROBE_TIMEOUT_MS = 2000;
const UPSTREAM_TIMEOUT_MS = 5000;

export async function* diagnose(flags: SettingFlags): AsyncGenerator<Finding> {
  yield ok('node', `${process.versions.node} on ${process.platform} ${process.arch}`);
  const loaded = readConfig(flags);
  if (!('config' in loaded)) {
    yield* loaded.map((text) => fault('configuration', text));
    return;
  }
  const { config } = loaded;
  const changed = [...loaded.origins.values()].filter((origin) => origin !== 'default').length;
  yield ok('configuration', `valid; ${changed} ${changed === 1 ? 'setting is' : 'settings are'} not the default`);
  const runs = yield* lookAtAddress(config);
  yield* lookAtDataFolder(config);
  yield* lookAtStore(locateStore(config), runs);
  yield await lookAtTokenizer(config);
  yield* lookAtModels(config);
  yield* lookAtUpstreams(loaded);
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
  else yield fault('address', listenFault);
  const addresses = await lookup(host, { all: true }).catch(() => []);
  if (addresses.some(({ address }) => isReachableFromOutside(address)))
    yield warning(
      'address',
      'other machines can reach it: put a proxy with TLS in front, or listen on 127.0.0.1 (--host)',
    );
  return runs;
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
    yield fault('data folder', `${dataDir} cannot be written by this user`);
    return;
  }
  yield* findOpenDoors(dataDir).map((door) => warning('data folder', door));
  const { bavail, bsize } = statfsSync(dataDir);
  const freeBytes = bavail * bsize;
  const told = `${Math.floor(freeBytes / BYTES_PER_MIB)} MiB free`;
  yield freeBytes < LITTLE_SPACE_BYTES
    ? warning('disk', `${told}: the ledger grows, and a full disk stops billed work`)
    : ok('disk', told);
}

async function* lookAtStore(store: StoreLocation, runs: boolean): AsyncGenerator<Finding> {
  if (store.type === 'sqlite' && !existsSync(sqliteFile(store.dataDir))) {
    yield ok('store', 'SQLite; the first start makes it');
    return;
  }
  try {
    const version = await findStoreVersion(store);
    const told = `${storeNameOf(store)}, schema ${version ?? 'none yet'} of ${newestSchemaVersion}`;
    yield version === newestSchemaVersion
      ? ok('store', told)
      : note('store', `${told}; the next start brings it up to date`);
    if (!runs && isInUse(store))
      yield fault('store', 'another server uses this data folder: stop it, or set another dataDir');
  } catch (error) {
    yield fault('store', messageOf(error));
  }
}

async function lookAtTokenizer({ engine }: Config): Promise<Finding> {
  if (engine.tokenizer === 'javascript') return ok('tokenizer', 'JavaScript, as configured');
  const addon = await loadAddon();
  return isAddon(addon) ? ok('tokenizer', 'native') : note('tokenizer', `JavaScript, which is slower: ${addon.reason}`);
}

async function* lookAtModels(config: Config): AsyncGenerator<Finding> {
  let folders: readonly string[];
  try {
    folders = findModelFolders(config);
  } catch (error) {
    yield fault('models', messageOf(error));
    return;
  }
  const cards: ModelCard[] = [];
  for (const folder of folders) {
    try {
      const { manifest, digest } = await readModelFolder(folder);
      cards.push(nameCard(manifest.id, manifest.type));
      const shown = digest.slice(0, 'sha256:'.length + 12);
      yield ok(`model ${manifest.id}`, `${manifest.type}, ${shown}, all checksums right`);
    } catch (error) {
      yield fault('models', messageOf(error));
    }
  }
  yield* lookAtNames(cards, config);
}

/** Two models of one id, an alias of no model: as a start would find it. */
function* lookAtNames(local: readonly ModelCard[], { upstreams, aliases }: Config): Generator<Finding> {
  const offered = upstreams.flatMap(({ models }) => models.map(({ id }) => nameCard(id, 'llm')));
  try {
    buildCatalog([{ models: [...local, ...offered] }], undefined, aliases);
  } catch (error) {
    yield fault('models', messageOf(error));
  }
}

function nameCard(id: string, type: ModelCard['type']): ModelCard {
  const price = { inputMicroUsd: 0, cachedInputMicroUsd: 0, outputMicroUsd: 0 };
  return { id, type, description: '', ownedBy: '', releaseDate: '', price };
}

async function* lookAtUpstreams(loaded: LoadedConfig): AsyncGenerator<Finding> {
  const upstreams = listCheckedUpstreams(loaded);
  // All at once: each may take until its limit.
  const findings = upstreams.map((upstream) => checkUpstream(upstream, AbortSignal.timeout(UPSTREAM_TIMEOUT_MS)));
  for (const [index, { name }] of upstreams.entries()) {
    const found = await findings[index];
    if (found !== undefined) yield { subject: `upstream ${name}`, ...found };
  }
}

function ok(subject: string, text: string): Finding {
  return { state: 'ok', subject, text };
}

/** Worth knowing, nothing to do. */
function note(subject: string, text: string): Finding {
  return { state: 'note', subject, text };
}

function warning(subject: string, text: string): Finding {
  return { state: 'warning', subject, text };
}

function fault(subject: string, text: string): Finding {
  return { state: 'fault', subject, text };
}
