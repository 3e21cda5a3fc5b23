// Defaults < file < environment < flags, into one checked configuration. The only file that reads process.env, and it
// finds every fault before it gives up.

import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { isRecord } from '../domain/json.ts';
import { type ConfigFile, readConfigFile } from './config-file.ts';
import { parseHubSettings } from './hub-settings.ts';
import { parseIndexSettings } from './index-settings.ts';
import { type Config, configSchema } from './schema.ts';
import { SETTINGS, type Setting } from './settings.ts';
import type { UpstreamModel } from './upstream-schema.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ConfigSources {
  /** By flag name without dashes, `config` included; as text. */
  readonly flags: Readonly<Record<string, string | undefined>>;
  /** Default: the process's. */
  readonly env?: Environment;
  /** What relative paths outside the file start from. Default: the process's. */
  readonly workingDir?: string;
}

export interface LoadedConfig {
  readonly config: Config;
  /** Setting name → where its value comes from: `default`, `file …`, `environment UMPIRE_…`, `flag --…`. */
  readonly origins: ReadonlyMap<string, string>;
  /** Upstream name → its API key, out of the variable that `apiKeyEnv` names. */
  readonly upstreamApiKeys: ReadonlyMap<string, string>;
}

/** All faults of a configuration, one a line. Values are not quoted: one of them may be a secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(
      `The configuration has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`,
    );
    this.faults = faults;
  }
}

/** Settings of the command-line client, which has no configuration of its own. */
export function readClientSettings(env: Environment = process.env): {
  url: string | undefined;
  apiKey: string | undefined;
} {
  return { url: env['UMPIRE_URL'] || undefined, apiKey: env['UMPIRE_API_KEY'] || undefined };
}

/** What a shell or a user says of the terminal's width. */
export function readColumns(env: Environment = process.env): number | undefined {
  const columns = Number(env['COLUMNS']);
  return Number.isInteger(columns) && columns > 0 ? columns : undefined;
}

/** Whether the terminal says, or does not deny, that its cursor can be moved. */
export function readMovesCursor(env: Environment = process.env): boolean {
  return process.platform === 'win32' || !['', 'dumb', 'unknown'].includes(env['TERM'] ?? '');
}

const TARGET_VARIABLE = 'UMPIRE_TARGET_DATABASE_URL';

/** Where `umpire db copy` copies to: an address with a password, which has no place on a command line. */
export function readTargetDatabaseUrl(env: Environment = process.env): string | undefined {
  return env[TARGET_VARIABLE] || undefined;
}

/** Of the hub that models are pulled from, and the cache of its tools. @throws ConfigError with all faults */
export function readHubSettings(env: Environment = process.env): ReturnType<typeof parseHubSettings> {
  return withoutFaults((faults) => parseHubSettings(env, faults));
}

/** Of the package index that `umpire gpu install` asks. @throws ConfigError with all faults */
export function readIndexSettings(env: Environment = process.env): ReturnType<typeof parseIndexSettings> {
  return withoutFaults((faults) => parseIndexSettings(env, faults));
}

function withoutFaults<Settings>(parse: (faults: string[]) => Settings): Settings {
  const faults: string[] = [];
  const settings = parse(faults);
  if (faults.length > 0) throw new ConfigError(faults);
  return settings;
}

/** What Kubernetes sets in every pod beside a service named `umpire`, `UMPIRE_PORT=tcp://…` among them. */
const SERVICE_LINK = /^UMPIRE_(SERVICE_(HOST|PORT)|PORT_\d+_(TCP|UDP|SCTP))/;
const SERVICE_LINK_ADVICE = ' Kubernetes sets it; `enableServiceLinks: false` in the pod keeps it out.';

/** Variables of ours that are no settings; the last is read by the training recipe and the quality bench. */
const OTHER_VARIABLES = ['UMPIRE_CONFIG', 'UMPIRE_URL', TARGET_VARIABLE, 'UMPIRE_DATA'];

/** @throws ConfigError with all faults */
export function loadConfig(sources: ConfigSources): LoadedConfig {
  const { flags, env = process.env, workingDir = process.cwd() } = sources;
  const faults: string[] = [];
  const filePath = flags['config'] || env['UMPIRE_CONFIG'];
  const file = filePath ? readConfigFile(resolve(workingDir, filePath), faults) : undefined;
  const origins = new Map<string, string>();
  const values = structuredClone(file?.content ?? {});
  for (const setting of SETTINGS)
    origins.set(setting.name, applySetting(values, setting, { file, flags, env, workingDir }));

  const parsed = configSchema.safeParse(values);
  if (!parsed.success) faults.push(...parsed.error.issues.map((issue) => describeIssue(issue, origins)));
  const upstreamApiKeys = readUpstreamKeys(values, env, faults);
  faults.push(...unknownVariables(env, values));
  if (parsed.success) faults.push(...crossFaults(parsed.data));
  if (!parsed.success || faults.length > 0) throw new ConfigError(faults);
  // The one relative default.
  const config = { ...parsed.data, dataDir: resolve(workingDir, parsed.data.dataDir) };
  return { config, origins, upstreamApiKeys };
}

interface Layers {
  readonly file: ConfigFile | undefined;
  readonly flags: Readonly<Record<string, string | undefined>>;
  readonly env: Environment;
  readonly workingDir: string;
}

/** Writes the value of the highest layer that has one into `values`. @returns where it comes from */
function applySetting(values: Record<string, unknown>, setting: Setting, layers: Layers): string {
  const flag = layers.flags[setting.flag];
  const variable = layers.env[setting.env];
  const text = flag || variable;
  if (text !== undefined && text !== '') {
    setAt(values, setting.path, toPath(setting, parseText(setting, text), layers.workingDir));
    return flag ? `flag --${setting.flag}` : `environment ${setting.env}`;
  }
  const own = getAt(values, setting.path);
  if (own === undefined || layers.file === undefined) return 'default';
  setAt(values, setting.path, toPath(setting, own, dirname(layers.file.path)));
  return `file ${layers.file.path}`;
}

/** Text that does not fit its kind stays text, for the schema to refuse. */
function parseText(setting: Setting, text: string): unknown {
  switch (setting.kind) {
    case 'number':
      return /^-?\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : text;
    case 'boolean':
      return z.stringbool().safeParse(text).data ?? text;
    case 'list':
      return parseList(text);
    case 'list or structure':
      return text.trimStart().startsWith('[') ? parseJson(text) : parseList(text);
    case 'structure':
      return parseJson(text);
    case 'text':
      return text;
  }
}

function parseList(text: string): string[] {
  return text.split(',').map((part) => part.trim());
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function toPath(setting: Setting, value: unknown, base: string): unknown {
  return setting.note.path && typeof value === 'string' ? resolve(base, value) : value;
}

function getAt(values: Record<string, unknown>, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), values);
}

// A section that is no object is left alone, for the schema to refuse.
function setAt(values: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [key, ...rest] = path;
  if (key === undefined) return;
  if (rest.length === 0) {
    values[key] = value;
    return;
  }
  values[key] ??= {};
  const section = values[key];
  if (isRecord(section)) setAt(section, rest, value);
}

function describeIssue(issue: z.core.$ZodIssue, origins: ReadonlyMap<string, string>): string {
  const name = issue.path.join('.');
  if (issue.code === 'unrecognized_keys') {
    const prefix = name === '' ? '' : `${name}.`;
    return `${issue.keys.map((key) => prefix + key).join(', ')} in the file: no such setting.`;
  }
  const setting = SETTINGS.find((candidate) => name === candidate.name || name.startsWith(`${candidate.name}.`));
  const origin = setting === undefined ? undefined : origins.get(setting.name);
  return `${name === '' ? 'the file' : name}${origin === undefined ? '' : ` (${origin})`}: ${issue.message}.`;
}

/** Works on unchecked values, so that a missing key is told together with every other fault. */
function readUpstreamKeys(values: Record<string, unknown>, env: Environment, faults: string[]): Map<string, string> {
  const keys = new Map<string, string>();
  for (const [index, upstream] of upstreamEntries(values).entries()) {
    const { name, apiKeyEnv } = upstream;
    if (typeof name !== 'string' || typeof apiKeyEnv !== 'string') continue;
    const key = env[apiKeyEnv];
    if (key) keys.set(name, key);
    else faults.push(`upstreams.${index}.apiKeyEnv (upstream "${name}"): ${describeVariable(apiKeyEnv)} is not set.`);
  }
  return keys;
}

/** Somebody may have put the key itself where its variable belongs. Names of variables are in capitals, keys are not. */
function describeVariable(name: string): string {
  return /^[A-Z][A-Z0-9_]*$/.test(name) ? `the environment variable ${name}` : 'the environment variable it names';
}

function upstreamEntries(values: Record<string, unknown>): Record<string, unknown>[] {
  const { upstreams } = values;
  return Array.isArray(upstreams) ? upstreams.map((entry) => (isRecord(entry) ? entry : {})) : [];
}

function unknownVariables(env: Environment, values: Record<string, unknown>): string[] {
  const known = new Set([
    ...OTHER_VARIABLES,
    ...SETTINGS.map((setting) => setting.env),
    ...upstreamEntries(values).map((upstream) => upstream['apiKeyEnv']),
  ]);
  return Object.keys(env)
    .filter((name) => name.startsWith('UMPIRE_') && env[name] !== '' && !known.has(name))
    .map((name) => `${name} in the environment: no such setting.${SERVICE_LINK.test(name) ? SERVICE_LINK_ADVICE : ''}`);
}

function crossFaults(config: Config): string[] {
  const faults: string[] = [];
  if (config.http.requestTimeoutMs < config.http.headersTimeoutMs) {
    faults.push('http.requestTimeoutMs: must not be shorter than http.headersTimeoutMs, which it contains.');
  }
  const names = config.upstreams.map((upstream) => upstream.name);
  for (const name of duplicates(names)) faults.push(`upstreams: two have the name "${name}".`);
  return [...faults, ...config.upstreams.flatMap(findTwins), ...findUnequal(config)];
}

function findTwins({ name, models }: Config['upstreams'][number]): string[] {
  return [...duplicates(models.map(({ id }) => id))].map(
    (id) => `upstreams: two models of the upstream "${name}" have the id "${id}".`,
  );
}

/** What one model says of itself at several upstreams. */
function findUnequal({ upstreams }: Config): string[] {
  const byId = Map.groupBy(
    upstreams.flatMap(({ models }) => models),
    ({ id }) => id,
  );
  return [...byId].flatMap(([id, entries]) => {
    const weighted = entries.filter(({ weight }) => weight !== undefined).length;
    const isHalf = weighted > 0 && weighted < entries.length;
    return [
      ...(isHalf
        ? [`upstreams: the model "${id}" has a weight at some upstreams; give it one at all, or at none.`]
        : []),
      ...(hasOtherPrices(entries)
        ? [`upstreams: the model "${id}" has two prices; state one, at the first upstream.`]
        : []),
    ];
  });
}

function hasOtherPrices([first, ...others]: readonly UpstreamModel[]): boolean {
  const priceOf = (model: UpstreamModel | undefined) => [
    model?.inputMicroUsdPerMillionTokens,
    model?.cachedInputMicroUsdPerMillionTokens,
    model?.outputMicroUsdPerMillionTokens,
  ];
  return others.some((model) => priceOf(model).some((price, place) => price && price !== priceOf(first)[place]));
}

function duplicates(texts: readonly string[]): Set<string> {
  return new Set(texts.filter((text, index) => texts.indexOf(text) !== index));
}
