// Loaded into a server by a test: while the file that TEST_DEATH_FILE names is there, the next worker that runs a graph
// takes it away and dies of an error that nobody catches.

import { rmSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

function takeAway(file) {
  try {
    rmSync(file);
    return true;
  } catch {
    return false;
  }
}

if (!isMainThread) {
  const { InferenceSession } = await import('onnxruntime-node');
  const { run } = InferenceSession.prototype;
  InferenceSession.prototype.run = function runOrDie(...asked) {
    if (!takeAway(process.env.TEST_DEATH_FILE)) return run.apply(this, asked);
    setImmediate(() => {
      throw new Error('a fault in JavaScript');
    });
    return new Promise(() => undefined);
  };
}
