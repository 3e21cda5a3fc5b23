// What commands may ask of the program around them. Commands see no stores, no engine and no environment: they are handed
// this, and app/program.ts answers.

import type { ServerConnection } from '../client/server-connection.ts';
import type { ModelType } from '../domain/model-card.ts';
import type { Price } from '../domain/money.ts';
import type { Temperatures } from '../domain/temperature.ts';
import type { LearnNews, LearnOrder, LearnOutcome, LearnReport } from '../learning/learn-order.ts';
import type { Administration } from '../services/administration.ts';
import type { ExitCode } from './exit-codes.ts';
import type { Failure } from './failure.ts';
import type { GpuInstaller } from './gpu-installer.ts';
import type { RowReader } from './label/row-reader.ts';
import type { ModelSources } from './model-sources.ts';
import type { Paint } from './paint.ts';
import type { SettingFlag, SettingFlags } from './setting-flags.ts';
import type { StoreTools } from './store-tools.ts';
import type { Terminal } from './terminal.ts';

export interface ListedModel {
  readonly id: string;
  readonly type: ModelType;
  readonly description: string;
  /** Folder, or name of the upstream. */
  readonly source: string;
  readonly digest?: string;
  /** When a server loads it; an upstream has its own ways. */
  readonly load?: 'start' | 'first-use';
  /** Of a folder. */
  readonly licence?: string;
  /** Of a pulled model. */
  readonly repo?: string;
  /** 40 hex digits. */
  readonly commit?: string;
  /** Id of the model that a learned model stands on. */
  readonly base?: string;
  /** Why a server would not serve it. */
  readonly fault?: string;
  /** Of the folder or the configuration; a learned model whose folder is broken has none. */
  readonly price?: Price;
}

export interface VerifiedModel {
  readonly folder: string;
  readonly id: string;
  readonly digest: string;
  /** Execution provider the golden answers were computed on. */
  readonly device: string;
}

/** A decision model on disk, verified and not loaded. */
export interface DecisionModel {
  readonly id: string;
  readonly folder: string;
  readonly digest: string;
  readonly temperatures: Temperatures;
  /** Whether these were fitted to labelled rows. */
  readonly isCalibrated: boolean;
  /** Whether it is heads over another model, which cannot be calibrated. Default: no */
  readonly isLearned?: boolean;
  /** Tokens the model reads of a text. */
  countTokens(text: string): number;
  /** A server in this process with this model alone, which lets any amount of work wait. */
  startServer(): Promise<ServerConnection>;
  /** An engine in this process with this model alone. */
  startReader(): Promise<RowReader>;
  /** The manifest with these temperatures, calibrated, as text. */
  renderManifest(temperatures: Temperatures): Promise<string>;
  /** Writes them into the folder, its golden answers and checksums with them. @returns the new digest */
  writeTemperatures(temperatures: Temperatures): Promise<string>;
}

/** One thing that `umpire doctor` looked at. */
export interface Finding {
  /** `note`: worth knowing. `warn`: something will go wrong one day. `fail`: a server would not work. */
  readonly state: 'ok' | 'note' | 'warn' | 'fail';
  /** `data folder`, `upstream local` */
  readonly subject: string;
  readonly text: string;
  /** What to do. */
  readonly remedy?: string;
}

/** A setting as it would hold; secrets are masked. */
export interface ShownSetting {
  readonly name: string;
  /** null: unset. */
  readonly value: unknown;
  /** `default`, `file …`, `environment UMPIRE_…`, `flag --…` */
  readonly origin: string;
}

export interface LearnWatcher {
  readonly signal: AbortSignal;
  tell(news: LearnNews): void;
  /** Before anything is written. */
  onReport(report: LearnReport): void;
}

export interface Program {
  readonly version: string;
  readonly settingFlags: readonly SettingFlag[];
  /** Whole texts, line ends included. */
  writeOut(text: string): void;
  writeError(text: string): void;
  readonly isTerminal: boolean;
  /** Somebody sits before standard input and output. */
  findTerminal(): Terminal | undefined;
  /** How wide standard output is shown. */
  readonly columns: number;
  /** On standard output. */
  readonly paint: Paint;
  readStdin(): Promise<string>;
  /** What is typed up to the next line end. */
  readLine(): Promise<string>;
  /** undefined: nobody expected it. */
  findFailure(error: unknown): Failure | undefined;
  openStdin(): AsyncIterable<Uint8Array>;
  /** Resolves when standard output has taken it. @throws when nobody reads it any more */
  pipeOut(text: string): Promise<void>;
  /** How wide standard error is shown; undefined: it is no terminal. */
  readonly progressColumns: number | undefined;
  /** Ctrl-C asks to stop, by `stop`; meant once more it ends the process at once. @returns what forgets it */
  onInterrupt(stop: () => void): () => void;
  readonly clientSettings: { readonly url: string | undefined; readonly apiKey: string | undefined };
  /** As text; secrets are masked. */
  describeConfig(flags: SettingFlags): string;
  listConfig(flags: SettingFlags): readonly ShownSetting[];
  /** Runs until the process is told to stop. @returns the exit code */
  serve(flags: SettingFlags): Promise<ExitCode>;
  /** Opens the configured store for as long as it is used. */
  withServices<T>(flags: SettingFlags, use: (services: Administration) => Promise<T>): Promise<T>;
  readonly storeTools: StoreTools;
  /** Loads each folder in a worker: checksums, graphs, golden answers. No folders: those of the configuration. */
  verifyModels(flags: SettingFlags, folders: readonly string[]): AsyncIterable<VerifiedModel>;
  /** The configured models; checksums are verified, nothing is loaded. */
  listModels(flags: SettingFlags): Promise<readonly ListedModel[]>;
  /** Loaded when it is asked for: nothing else needs a hub. */
  openModelSources(flags: SettingFlags): Promise<ModelSources>;
  /** Loaded when it is asked for, as above. */
  openGpuInstaller(flags: SettingFlags): Promise<GpuInstaller>;
  /** Looks at everything a server needs, and changes nothing. Quick: no model is loaded. */
  diagnose(flags: SettingFlags, options: { readonly isQuick: boolean }): AsyncIterable<Finding>;
  /** Ids and aliases, checked against nothing. */
  listModelIds(flags: SettingFlags): Promise<readonly string[]>;
  startLocalServer(flags: SettingFlags): Promise<ServerConnection>;
  /** From rows to a model folder, in this process. @throws LearnError, StartError; the signal's reason */
  learnModel(flags: SettingFlags, order: LearnOrder, watcher: LearnWatcher): Promise<LearnOutcome>;
  /** By id among the configured models, or by the path of a model folder. */
  findDecisionModel(flags: SettingFlags, idOrFolder: string): Promise<DecisionModel>;
}
