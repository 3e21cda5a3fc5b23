// Fixtures that lie packed.

import { type PathLike, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

export function readPackedJson(path: PathLike): unknown {
  return JSON.parse(gunzipSync(readFileSync(path)).toString());
}
