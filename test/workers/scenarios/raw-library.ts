// Loads the runtime library as it comes, without our pool: shows that it would write into the home folder.

import { fileURLToPath } from 'node:url';
import { InferenceSession } from 'onnxruntime-node';

const session = await InferenceSession.create(
  fileURLToPath(new URL('../../fixtures/tiny-decision/head.fp32.onnx', import.meta.url)),
);
await session.release();
process.stdout.write(JSON.stringify({ done: true }));
