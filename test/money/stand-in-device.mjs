// Loaded into a server by a test: a device of the name `standin`, which is the processor with the faults of a GPU, in the runtime
// library's words. Which, the file that TEST_DEVICE_FILE names says: { fault, aboveRows?, next?, isSticky?, isSlow? }, of which `next`
// is the plan after the first fault. What it runs and opens is noted beside it, a line of JSON each.

import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isMainThread } from 'node:worker_threads';

const FILE = process.env.TEST_DEVICE_FILE;
const WORDS = {
  memory:
    "Non-zero status code returned while running MatMul node. Name:'m' Status Message: /onnxruntime_src/onnxruntime/core/framework/bfc_arena.cc:376 void* onnxruntime::BFCArena::AllocateRawInternal(size_t, bool, onnxruntime::Stream*) Failed to allocate memory for requested buffer of size 134217728",
  lost: 'CUDA failure 700: an illegal memory access was encountered ; GPU=0 ; hostname=h ; file=/onnxruntime_src/onnxruntime/core/providers/cuda/cuda_execution_provider.cc ; line=448 ; expr=cudaStreamSynchronize(stream_);',
};

function readPlan() {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8'));
  } catch {
    return {};
  }
}

/** @returns whether it was there for this thread */
function replacePlan(next) {
  try {
    rmSync(FILE);
    writeFileSync(FILE, JSON.stringify(next));
    return true;
  } catch {
    return false;
  }
}

function note(event) {
  appendFileSync(`${FILE}.log`, `${JSON.stringify(event)}\n`);
}

function rowsOf({ token_ids, input_ids, option_vectors }) {
  return (token_ids ?? input_ids ?? option_vectors)?.dims[0] ?? 1;
}

if (!isMainThread) {
  const { InferenceSession } = await import('onnxruntime-node');
  const { create } = InferenceSession;
  const { run } = InferenceSession.prototype;
  const graphs = new WeakMap();

  InferenceSession.create = async (path, options) => {
    if (options?.executionProviders?.[0] !== 'standin') return create.call(InferenceSession, path, options);
    while (readPlan().isSlow) await wait(5);
    note({ opened: basename(path) });
    const { isSticky, fault } = readPlan();
    if (isSticky) throw new Error(WORDS[fault]);
    const session = await create.call(InferenceSession, path, { ...options, executionProviders: ['cpu'] });
    graphs.set(session, basename(path));
    return session;
  };

  InferenceSession.prototype.run = async function runOrFail(feeds, ...asked) {
    const graph = graphs.get(this);
    if (graph === undefined) return run.call(this, feeds, ...asked);
    const rows = rowsOf(feeds);
    const { fault, aboveRows = 0, next } = readPlan();
    const isFailing = fault !== undefined && rows > aboveRows && (next === undefined || replacePlan(next));
    note({ ran: graph, rows, isFailing });
    if (isFailing) throw new Error(WORDS[fault]);
    return run.call(this, feeds, ...asked);
  };
}
