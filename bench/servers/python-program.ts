// How a Python server is installed and started. Which there are, and with what settings, stands in python-servers.ts.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { EMBEDDING_MODEL, type Task } from '../load/workload.ts';
import { ROOT } from '../machine/machine.ts';
import type { Launch, Settings } from './server.ts';

export const PYTHON_FOLDER = resolve(import.meta.dirname, 'python');
/** Not in the repository. */
export const DEFAULT_ENVIRONMENTS = resolve(import.meta.dirname, '..', 'environments');
/** Written last: an installation that was cut short is done again. */
const STAMP = 'umpire-requirements.txt';
/** Nothing is fetched, and nobody is told. */
export const OFFLINE = {
  HF_HUB_OFFLINE: '1',
  TRANSFORMERS_OFFLINE: '1',
  DO_NOT_TRACK: '1',
  PYTHONDONTWRITEBYTECODE: '1',
};

/** What may differ between two servers of one program. */
export interface Tuning {
  /** Added to the command line: of uvicorn, or of Infinity. */
  readonly options?: readonly string[];
  /** `PEER_…` of its settings, and variables of the libraries. */
  readonly environment?: Settings;
  /** Infinity alone: processes with a core each, by `infinity_workers.py`, not the command line as its users start it. */
  readonly workers?: number;
}

export interface PythonProgram {
  /** Its environment: `python/requirements/<name>.txt`, all packages pinned. */
  readonly environment: string;
  readonly task: Task;
  /** Whose versions the report names. */
  readonly packages: readonly string[];
  /** For the report. */
  tell(tuning: Tuning): Settings;
  launch(tuning: Tuning, at: Place): Launch;
}

export interface Place {
  readonly port: number;
  readonly dataFolder: string;
  readonly environments: string;
}

/** Does nothing to an environment that is as it should be. @param python of the system */
export function installProgram({ environment }: PythonProgram, environments: string, python: string): void {
  const folder = join(environments, environment);
  const file = requirementsFile(environment);
  const [stamp, requirements] = [join(folder, STAMP), readFileSync(file, 'utf8')];
  const isDone = existsSync(stamp) && readFileSync(stamp, 'utf8') === requirements;
  console.log(`${environment}: ${isDone ? 'as it should be' : 'installing'}`);
  if (isDone) return;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(environments, { recursive: true });
  execFileSync(python, ['-m', 'venv', folder], { stdio: 'inherit' });
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', file];
  execFileSync(join(folder, 'bin', 'python'), pip, { stdio: 'inherit' });
  writeFileSync(stamp, requirements);
}

/** Pinned ones. */
export function readVersions({ environment, packages }: PythonProgram): Settings {
  const lines = readFileSync(requirementsFile(environment), 'utf8').split('\n');
  const pins = new Map(lines.map((line) => line.split('==') as [string, string | undefined]));
  return Object.fromEntries(packages.map((wanted) => [wanted, pins.get(wanted) ?? 'not pinned']));
}

function requirementsFile(environment: string): string {
  return join(PYTHON_FOLDER, 'requirements', `${environment}.txt`);
}

/** @throws if the environment was not installed */
export function pythonOf(environment: string, environments: string): string {
  const python = join(environments, environment, 'bin', 'python');
  if (!existsSync(python)) throw new Error(`No ${python}: run node bench/install-peers.ts first.`);
  return python;
}

/** Installation, not start: users of embedding servers download such a folder. */
function layOutModel(python: string, dataFolder: string): string {
  const out = join(dataFolder, 'model');
  const script = join(PYTHON_FOLDER, 'embedding_folder.py');
  execFileSync(python, [script, '--model', join(ROOT, 'models', EMBEDDING_MODEL), '--out', out]);
  return out;
}

export function uvicorn(app: string, port: number, options: readonly string[]): string[] {
  const address = ['--host', '127.0.0.1', '--port', String(port)];
  return ['-m', 'uvicorn', app, '--app-dir', PYTHON_FOLDER, ...address, ...options];
}

export function tellUvicorn({ options = [], environment = {} }: Tuning): Settings {
  return { ...environment, uvicorn: options.join(' ') };
}

/** FastAPI and onnxruntime on the graphs of `kev`. */
export const DECISIONS: PythonProgram = {
  environment: 'decisions',
  task: 'decision',
  packages: ['fastapi', 'uvicorn', 'onnxruntime', 'tokenizers', 'numpy', 'pydantic'],
  tell: tellUvicorn,
  launch: ({ options = [], environment = {} }, { port, environments }) => ({
    file: pythonOf('decisions', environments),
    arguments: uvicorn('decision_server.app:app', port, options),
    settings: { PEER_MODEL_FOLDER: join(ROOT, 'models', 'kev'), PYTHONDONTWRITEBYTECODE: '1', ...environment },
    readyPath: '/healthz',
  }),
};

/** On the original float32 weights, in the package that carries them; with its ONNX engine on our int8 graph. */
export const SENTENCE_TRANSFORMERS: PythonProgram = {
  environment: 'sentence-transformers',
  task: 'embedding',
  packages: ['sentence-transformers', 'torch', 'onnxruntime', 'fastapi'],
  tell: tellUvicorn,
  launch: ({ options = [], environment = {} }, { port, dataFolder, environments }) => {
    const python = pythonOf('sentence-transformers', environments);
    const findBase = (): string => execFileSync(python, [join(PYTHON_FOLDER, 'base_folder.py')], { encoding: 'utf8' });
    const model = environment['PEER_BACKEND'] === 'onnx' ? layOutModel(python, dataFolder) : findBase().trim();
    return {
      file: python,
      arguments: uvicorn('embedding_server.app:app', port, options),
      settings: { ...OFFLINE, PEER_MODEL_FOLDER: model, ...environment },
      readyPath: '/healthz',
    };
  },
};

/** The model is "." because optimum looks for the graph by its bare name. */
const INFINITY_MODEL = {
  'model-id': '.',
  'served-model-name': EMBEDDING_MODEL,
  engine: 'optimum',
  device: 'cpu',
  'pooling-method': 'mean',
};

/** With its ONNX engine on our int8 graph. */
export const INFINITY: PythonProgram = {
  environment: 'infinity',
  task: 'embedding',
  packages: ['infinity_emb', 'optimum-onnx', 'onnxruntime', 'transformers', 'torch'],
  tell: ({ options = [], workers = 1 }) => {
    return { engine: 'optimum', 'pooling-method': 'mean', options: options.join(' '), workers: String(workers) };
  },
  launch: ({ options = [], workers }, { port, dataFolder, environments }) => {
    const python = pythonOf('infinity', environments);
    const common = { folder: layOutModel(python, dataFolder), readyPath: '/health' };
    if (workers !== undefined) {
      const variables = asVariables([...listOptions(INFINITY_MODEL), ...options]);
      const processes = ['--factory', '--workers', String(workers), '--no-access-log'];
      const command = uvicorn('infinity_workers:create_app', port, processes);
      return { ...common, file: python, arguments: command, settings: { ...OFFLINE, ...variables } };
    }
    const address = ['--host', '127.0.0.1', '--port', String(port), '--url-prefix', '/ai/v1'];
    const command = ['v2', ...listOptions(INFINITY_MODEL), ...address, ...options];
    const file = join(environments, 'infinity', 'bin', 'infinity_emb');
    return { ...common, file, arguments: command, settings: OFFLINE };
  },
};

function listOptions(options: Settings): string[] {
  return Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
}

/** Infinity reads every option of its command line from the environment, too. */
function asVariables(options: readonly string[]): Settings {
  const variables: Record<string, string> = {};
  for (let index = 0; index < options.length; index += 2) {
    const name = (options[index] ?? '').replace('--', '').replaceAll('-', '_').toUpperCase();
    variables[`INFINITY_${name}`] = options[index + 1] ?? '';
  }
  return variables;
}
