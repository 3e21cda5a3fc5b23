// Unpacks what lies packed in the shipped model folders and is mapped when it runs, when a checkout is installed and before
// `npm pack` takes it: whoever runs the server may not write there. Another folder of model folders may be named.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

const MODELS = process.argv[2] ?? fileURLToPath(new URL('../models', import.meta.url));
const PACKED_GRAPH = /\.(onnx|bin)\.gz$/;

for (const name of readdirSync(MODELS, { recursive: true })) {
  const packed = join(MODELS, name);
  if (PACKED_GRAPH.test(packed)) unpack(packed, packed.replace(/\.gz$/, ''));
}

/** Where both lie, the plain one is read. If only the packed one is what SHA256SUMS names, an older release left the plain one,
 * which gives way; if neither is, somebody wrote it, and it stays. */
function unpack(packed, plain) {
  const wanted = wantedSum(plain);
  const lies = existsSync(plain);
  if (lies && (wanted === undefined || sumOf(readFileSync(plain)) === wanted)) return;
  const content = gunzipSync(readFileSync(packed));
  if (lies && sumOf(content) !== wanted) return;
  // As a whole or not at all.
  const draft = `${plain}.${process.pid}`;
  writeFileSync(draft, content);
  renameSync(draft, plain);
}

/** The sum that SHA256SUMS beside the file names for it, or undefined. */
function wantedSum(path) {
  const sums = join(dirname(path), 'SHA256SUMS');
  if (!existsSync(sums)) return undefined;
  const line = readFileSync(sums, 'utf8')
    .split('\n')
    .find((each) => each.slice(66) === basename(path));
  return line?.slice(0, 64);
}

function sumOf(bytes) {
  return createHash('sha256').update(bytes).digest('hex');
}
