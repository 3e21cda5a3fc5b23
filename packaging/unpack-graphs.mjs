// Unpacks what lies packed in the shipped model folders and is mapped when it runs, before `npm pack` takes it: whoever runs
// an installed package may not write into it.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

const MODELS = fileURLToPath(new URL('../models', import.meta.url));
const PACKED_GRAPH = /\.(onnx|bin)\.gz$/;

for (const name of readdirSync(MODELS, { recursive: true })) {
  const path = join(MODELS, name);
  if (!PACKED_GRAPH.test(path)) continue;
  const plain = path.replace(/\.gz$/, '');
  if (!existsSync(plain)) writeFileSync(plain, gunzipSync(readFileSync(path)));
}
