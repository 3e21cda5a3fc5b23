// Whether the runtime library can be asked for CUDA at all: its provider is a file of its own, which no package of npm
// brings. Asking the library tells nothing: it says that CUDA is not bundled even where the file lies beside it.

import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { messageOf } from '../domain/errors.ts';

const PROVIDER_FILE = 'libonnxruntime_providers_cuda.so';
const BINDING_FOLDER = /^napi-v\d+$/;

export interface LibraryPlace {
  readonly platform: string;
  readonly arch: string;
  /** Folder of the package `onnxruntime-node`. */
  readonly packageFolder: string;
}

/** @returns its path; undefined: it is not there, or this is no system that could load it */
export function findCudaProvider(place: LibraryPlace = ownPlace()): string | undefined {
  const { platform, arch, packageFolder } = place;
  if (platform !== 'linux' || arch !== 'x64') return undefined;
  const binaries = join(packageFolder, 'bin');
  const bindings = existsSync(binaries) ? readdirSync(binaries).filter((name) => BINDING_FOLDER.test(name)) : [];
  return bindings.map((name) => join(binaries, name, platform, arch, PROVIDER_FILE)).find((path) => existsSync(path));
}

/** Why the system cannot load it; the runtime library keeps that to itself. @returns undefined: it can */
export function findLoadFault(provider: string): string | undefined {
  try {
    process.dlopen({ exports: {} }, provider);
  } catch (error) {
    // It is no addon of Node's: whatever loads says this.
    const message = messageOf(error);
    return message.includes('did not self-register') ? undefined : message;
  }
  return undefined;
}

function ownPlace(): LibraryPlace {
  const manifest = createRequire(import.meta.url).resolve('onnxruntime-node/package.json');
  return { platform: process.platform, arch: process.arch, packageFolder: dirname(manifest) };
}
