// Which graphs of a repository are taken, by their names: what exporters call the precisions, and which of them no
// server should ever choose by itself.

import { RecipeError } from './recipe-error.ts';
import type { RecipeFiles } from './recipe-files.ts';

export const GRAPH_PRECISIONS = ['int8', 'fp32', 'fp16'] as const;
export type GraphPrecision = (typeof GRAPH_PRECISIONS)[number];

/** A graph with the files that its weights lie in; paths as the repository has them. */
export interface GraphChoice {
  readonly precision: GraphPrecision;
  readonly path: string;
  readonly data: readonly string[];
  readonly bytes: number;
}

export interface GraphWish {
  /** Absent: fp32 and int8, whichever there are. */
  readonly precisions?: readonly GraphPrecision[] | undefined;
  /** A certain graph instead of those with the usual names. */
  readonly file?: string | undefined;
}

/** The first that is there counts. Where a repository has them in `onnx/`, those in its root are another export. */
const USUAL_NAMES: Readonly<Record<GraphPrecision, readonly string[]>> = {
  fp32: ['model.onnx'],
  int8: ['model_int8.onnx', 'model_quantized.onnx', 'model_uint8.onnx'],
  fp16: ['model_fp16.onnx'],
};
const USUAL_FOLDERS = ['onnx/', ''];
const DEFAULT_PRECISIONS: readonly GraphPrecision[] = ['fp32', 'int8'];
/** Four bits and fewer: slow on a CPU, and nobody knows what they cost in quality. */
const FEW_BITS = /(^|[_.-])(q[1-4][a-z0-9]*|bnb4|int4|uint4|nf4)([_.-]|$)/i;
const FOLDER_FILE = /^[\w.-]+$/;

/** @throws RecipeError when there is none that can be taken */
export function chooseGraphs(files: RecipeFiles, wish: GraphWish): readonly GraphChoice[] {
  if (wish.file !== undefined) return [chooseNamed(files, wish.file, wish.precisions)];
  const wanted = wish.precisions ?? DEFAULT_PRECISIONS;
  const folder = USUAL_FOLDERS.find((place) =>
    Object.values(USUAL_NAMES)
      .flat()
      .some((name) => files.has(place + name)),
  );
  if (folder === undefined) throw noGraphs(files);
  const found = wanted.flatMap((precision) => {
    const name = USUAL_NAMES[precision].find((candidate) => files.has(folder + candidate));
    return name === undefined ? [] : [toChoice(files, folder + name, precision)];
  });
  const missing = (wish.precisions ?? []).filter((precision) => !found.some((graph) => graph.precision === precision));
  if (missing.length > 0 || found.length === 0) {
    const there = GRAPH_PRECISIONS.filter((precision) =>
      USUAL_NAMES[precision].some((name) => files.has(folder + name)),
    );
    const wantedWords = (missing.length > 0 ? missing : wanted).join(' or ');
    throw new RecipeError(
      `The repository has no ${wantedWords} graph; it has ${there.join(', ')} (--precision takes one of them; fp16 needs a device).`,
    );
  }
  return found;
}

/** The one that quantized ones are compared with, where it is not among those that are kept. */
export function findReferenceGraph(files: RecipeFiles, chosen: readonly GraphChoice[]): GraphChoice | undefined {
  const fullPrecision = chosen.find(({ precision }) => precision === 'fp32');
  if (fullPrecision !== undefined) return fullPrecision;
  const folder = chosen[0]?.path.slice(files.fullPath('').length).replace(/[^/]+$/, '') ?? '';
  const name = USUAL_NAMES.fp32.find((candidate) => files.has(folder + candidate));
  return name === undefined ? undefined : toChoice(files, folder + name, 'fp32');
}

function chooseNamed(files: RecipeFiles, file: string, precisions: GraphWish['precisions']): GraphChoice {
  if (!files.has(file)) throw new RecipeError(`The repository has no file ${file}.${tellGraphs(files)}`);
  if (FEW_BITS.test(file)) {
    throw new RecipeError(`${file}: weights of four bits or fewer are not supported.`);
  }
  const [given, ...others] = precisions ?? [];
  if (others.length > 0) throw new RecipeError('--file names one graph: give --precision once.');
  const name = file.split('/').at(-1) ?? file;
  const usual = GRAPH_PRECISIONS.find((precision) => USUAL_NAMES[precision].includes(name));
  const precision = given ?? usual;
  if (precision === undefined) {
    throw new RecipeError(
      `The name ${file} does not tell its precision: add --precision ${GRAPH_PRECISIONS.join('|')}.`,
    );
  }
  return toChoice(files, file, precision);
}

/** External weights stand beside their graph under names that begin with its own; the graph holds those names. */
function toChoice(files: RecipeFiles, path: string, precision: GraphPrecision): GraphChoice {
  const isData = (candidate: string): boolean =>
    candidate.startsWith(`${path}_data`) || candidate.startsWith(`${path}.data`);
  const data = files.files.filter((file) => isData(file.path));
  const own = files.files.filter((file) => file.path === path);
  const all = [...own, ...data];
  for (const file of all) {
    const name = file.path.split('/').at(-1) ?? '';
    if (!FOLDER_FILE.test(name)) throw new RecipeError(`${file.path}: a model folder cannot hold a file of this name.`);
  }
  return {
    precision,
    path: files.fullPath(path),
    data: data.map((file) => files.fullPath(file.path)),
    bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

function noGraphs(files: RecipeFiles): RecipeError {
  return new RecipeError(
    `The repository has no graph under a usual name (onnx/model.onnx, onnx/model_quantized.onnx, …).${tellGraphs(files)}`,
  );
}

/** Folders of a repository that hold a model each. */
export function listModelFolders(files: RecipeFiles): readonly string[] {
  const folders = files.files.map(({ path }) => /^(.+?)\/(?:onnx\/)?model(?:_\w+)?\.onnx$/.exec(path)?.[1]);
  return [...new Set(folders)].filter((folder) => folder !== undefined && folder !== 'onnx') as string[];
}

function tellGraphs(files: RecipeFiles): string {
  const graphs = files.files.map(({ path }) => path).filter((path) => path.endsWith('.onnx'));
  if (graphs.length === 0) {
    return ' It has no .onnx file at all: look for an export of it, often under onnx-community/ or Xenova/.';
  }
  return ` Its graphs: ${graphs.slice(0, 12).join(', ')}. --file takes one of them, with --precision.`;
}
