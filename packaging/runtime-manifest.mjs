// The inference library travels inside our package (`bundleDependencies`), without its install script: that one downloads
// GPU libraries, and fails where only the registry can be reached. `take-out` before packing, `put-back` after it.

import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** What the library's install script alone needs. */
const INSTALL_DEPENDENCIES = ['adm-zip', 'global-agent'];
const MANIFEST = fileURLToPath(import.meta.resolve('onnxruntime-node/package.json'));
const KEPT = fileURLToPath(new URL('../node_modules/.onnxruntime-node.package.json', import.meta.url));

/** @returns the manifest without what runs at an install */
export function withoutInstallScript({ scripts: _scripts, dependencies = {}, ...manifest }) {
  const kept = Object.entries(dependencies).filter(([name]) => !INSTALL_DEPENDENCIES.includes(name));
  return { ...manifest, dependencies: Object.fromEntries(kept) };
}

function takeOut() {
  // A pack that was cut left the original behind.
  putBack();
  const text = readFileSync(MANIFEST, 'utf8');
  writeFileSync(KEPT, text);
  // Never written in place: the file may be a hard link.
  const beside = `${MANIFEST}.${process.pid}`;
  writeFileSync(beside, `${JSON.stringify(withoutInstallScript(JSON.parse(text)), null, 2)}\n`);
  renameSync(beside, MANIFEST);
}

function putBack() {
  if (existsSync(KEPT)) renameSync(KEPT, MANIFEST);
}

const [, script, task] = process.argv;
if (script === fileURLToPath(import.meta.url)) {
  if (task === 'take-out') takeOut();
  else putBack();
}
