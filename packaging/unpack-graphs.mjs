// Unpacks what lies packed in the shipped model folders and is mapped when it runs, when a checkout is installed and before
// `npm pack` takes it: whoever runs the server may not write there.

import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

const MODELS = fileURLToPath(new URL('../models', import.meta.url));
const PACKED_GRAPH = /\.(onnx|bin)\.gz$/;

for (const name of readdirSync(MODELS, { recursive: true })) {
  const path = join(MODELS, name);
  if (!PACKED_GRAPH.test(path)) continue;
  const plain = path.replace(/\.gz$/, '');
  if (existsSync(plain)) continue;
  // As a whole or not at all: where both lie, the plain one is read.
  const draft = `${plain}.${process.pid}`;
  writeFileSync(draft, gunzipSync(readFileSync(path)));
  renameSync(draft, plain);
}
