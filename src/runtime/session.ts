// Sessions of the runtime library: options, devices, tensors. The only file that imports it; reachable from worker.ts
// alone, because a run blocks its thread.

import { readFile } from 'node:fs/promises';
import { env, InferenceSession, Tensor } from 'onnxruntime-node';
import type { GraphSignature, GraphValue } from './graph-signature.ts';

export type { Tensor } from 'onnxruntime-node';

export interface GraphSession {
  /** Names of what the graph gives. */
  readonly outputs: readonly string[];
  /** Runs the graph; blocks this thread. @param wanted outputs, else all of them @returns outputs by name */
  run(feeds: Readonly<Record<string, Tensor>>, wanted?: readonly string[]): Promise<Readonly<Record<string, Tensor>>>;
  /** The same, with these outputs written into the data of these tensors, which have their shapes. */
  runInto(feeds: Readonly<Record<string, Tensor>>, outputs: Readonly<Record<string, Tensor>>): Promise<void>;
  close(): Promise<void>;
}

export interface SessionSettings {
  /** Execution provider. */
  readonly device: string;
  /** Threads of one run. */
  readonly threads: number;
  /**
   * One for each thread of a run, of which the first is the caller's own. The others are bound to theirs, and all wait for
   * each other awake as long as the run goes on. Default: not bound, and asleep.
   */
  readonly cores?: readonly number[];
  /** Its runs are small whatever is asked: what one took is kept for the next. */
  readonly isBounded?: boolean;
}

/** Where an optimised graph is written; weights go into a file of their own beside it. */
export interface OptimizedOutput {
  readonly graphPath: string;
  readonly weightsName: string;
}

// What the library has to say comes as errors; its own lines on stderr would say it twice, in its own words.
env.logLevel = 'fatal';

export const LIBRARY_VERSION = env.versions.node ?? env.versions.common;

const KERNEL_ALIGNMENT_BYTES = 64;

/** Settings that change what an optimised graph holds; part of the cache's key. */
export const OPTIMIZATION = 'level=all;x64quantprecision;prepacked-aligned;external>=131072';

/**
 * The library takes strings, and takes unknown keys without a word.
 * @param prepack whether weights are written in the layout the kernels want
 */
function sessionEntries(
  { cores = [] }: SessionSettings,
  output?: OptimizedOutput,
  prepack = true,
): Record<string, unknown> {
  return {
    session: {
      // Spinning sessions side by side run three times slower.
      intra_op: { allow_spinning: cores.length > 1 ? '1' : '0' },
      ...(cores.length > 1 && {
        force_spinning_stop: '1',
        // The library counts from 1.
        intra_op_thread_affinities: cores
          .slice(1)
          .map((core) => core + 1)
          .join(';'),
      }),
      inter_op: { allow_spinning: '0' },
      // Without it, hosts that lack VNNI saturate 16-bit sums and answer wrongly.
      x64quantprecision: '1',
      ...(output !== undefined && {
        optimized_model_external_initializers_file_name: output.weightsName,
        // Small tensors stay in the graph: their odd sizes would push the large ones off their alignment.
        optimized_model_external_initializers_min_size_in_bytes: '131072',
        save_external_prepacked_constant_initializers: prepack ? '1' : '0',
      }),
    },
  };
}

function baseOptions({ device, threads, isBounded = false }: SessionSettings): InferenceSession.SessionOptions {
  return {
    executionProviders: [device],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    // An arena keeps the largest run's memory for ever. Where that is little it makes runs a few per cent faster.
    enableCpuMemArena: isBounded,
    // A pattern is one block for a whole run, so large that it is mapped anew for each: a sixth of a long answer's time.
    enableMemPattern: false,
    logSeverityLevel: 3,
  };
}

/** Opens a graph and optimises it in memory. */
export async function openGraph(path: string, settings: SessionSettings): Promise<GraphSession> {
  const options = { ...baseOptions(settings), graphOptimizationLevel: 'all', extra: sessionEntries(settings) } as const;
  return wrap(await InferenceSession.create(path, options));
}

/** What a graph takes and gives, by its own words. @throws the library's error when it cannot be opened */
export async function readSignature(path: string): Promise<GraphSignature> {
  const settings = { device: 'cpu', threads: 1 };
  const session = await InferenceSession.create(path, { ...baseOptions(settings), graphOptimizationLevel: 'disabled' });
  try {
    return { inputs: session.inputMetadata.map(toGraphValue), outputs: session.outputMetadata.map(toGraphValue) };
  } finally {
    await session.release();
  }
}

function toGraphValue(value: InferenceSession.ValueMetadata): GraphValue {
  const { name } = value;
  return value.isTensor ? { name, type: value.type, shape: value.shape } : { name, type: 'other', shape: [] };
}

/** Opens a graph that `writeOptimizedGraph` made; its weights are mapped, so sessions share them. */
export async function openOptimizedGraph(path: string, settings: SessionSettings): Promise<GraphSession> {
  const options = {
    ...baseOptions(settings),
    graphOptimizationLevel: 'disabled',
    extra: sessionEntries(settings),
  } as const;
  return wrap(await InferenceSession.create(path, options));
}

/** Optimises a graph for this very host and writes it, weights already in the layout the kernels want. */
export async function writeOptimizedGraph(
  path: string,
  settings: SessionSettings,
  output: OptimizedOutput,
): Promise<void> {
  await optimizeTo(path, settings, { output, prepack: true });
  const graph = await readFile(output.graphPath, 'latin1');
  if (!isAligned(graph)) await optimizeTo(path, settings, { output, prepack: false });
}

/**
 * Whether all weights in the kernels' layout begin at multiples of 64 bytes. The library (1.30.0) writes them wherever
 * the file ends and maps them as they lie, and its float32 kernels crash the process on others.
 * @param graph bytes as latin1; an entry reads `MatMul+<hash>|<offset>;<length>;<hash>;…`
 */
function isAligned(graph: string): boolean {
  const entries = [...graph.matchAll(/[A-Za-z]\+\d+\|((?:\d+;\d+;\d+;?)+)/g)];
  return entries.every(([, blobs = '']) =>
    (blobs.match(/\d+;\d+;\d+/g) ?? []).every((blob) => Number.parseInt(blob, 10) % KERNEL_ALIGNMENT_BYTES === 0),
  );
}

async function optimizeTo(
  path: string,
  settings: SessionSettings,
  { output, prepack }: { output: OptimizedOutput; prepack: boolean },
): Promise<void> {
  const session = await InferenceSession.create(path, {
    ...baseOptions(settings),
    graphOptimizationLevel: 'all',
    optimizedModelFilePath: output.graphPath,
    extra: sessionEntries(settings, output, prepack),
  });
  await session.release();
}

function wrap(session: InferenceSession): GraphSession {
  return {
    outputs: session.outputNames,
    run: (feeds, wanted = session.outputNames) =>
      session.run(feeds, wanted) as Promise<Readonly<Record<string, Tensor>>>,
    runInto: async (feeds, outputs) => {
      // The library copies what it wrote once more into tensors of its own: freed at once, not left to the collector.
      const copies = (await session.run(feeds, outputs)) as Record<string, Tensor>;
      for (const { data } of Object.values(copies)) {
        if (ArrayBuffer.isView(data) && data.buffer instanceof ArrayBuffer) data.buffer.transfer(0);
      }
    },
    close: () => session.release(),
  };
}

/** @param values whole, 0 to 2³¹ − 1 @param dims product = values.length */
export function int64Tensor(values: ArrayLike<number>, dims: readonly number[]): Tensor {
  // Written as low halves of 64 bits, the high ones zero: no big integer is made.
  const halves = new Int32Array(2 * values.length);
  for (let i = 0; i < values.length; i++) halves[2 * i] = values[i] ?? 0;
  return new Tensor('int64', new BigInt64Array(halves.buffer), dims);
}

/** @param values whole, negative ones among them @param dims product = values.length */
export function signedTensor(values: Int32Array, dims: readonly number[]): Tensor {
  const halves = new Int32Array(2 * values.length);
  for (const [place, value] of values.entries()) {
    halves[2 * place] = value;
    halves[2 * place + 1] = value < 0 ? -1 : 0;
  }
  return new Tensor('int64', new BigInt64Array(halves.buffer), dims);
}

/** @param dims product = values.length */
export function boolTensor(values: readonly boolean[], dims: readonly number[]): Tensor {
  return new Tensor('bool', Uint8Array.from(values, Number), dims);
}

/** @param dims product = values.length */
export function floatTensor(values: Float32Array, dims: readonly number[]): Tensor {
  return new Tensor('float32', values, dims);
}

/** Values of a float32 output. */
export function floatValues(tensor: Tensor | undefined): Float32Array {
  if (!(tensor?.data instanceof Float32Array)) throw new Error('the graph gave no float32 tensor where one was due');
  return tensor.data;
}

/** Whether a graph opens on a device. Rejects with the library's reason. */
export async function tryGraph(path: string, device: string): Promise<void> {
  const session = await openGraph(path, { device, threads: 1 });
  await session.close();
}
