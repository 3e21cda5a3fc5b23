// Loads shared libraries that are no addons: to see whether the system can, or to have them there for others that need them.

import { constants } from 'node:os';
import { messageOf } from '../../domain/errors.ts';

/** Of glibc: the library stays when Node, which finds no addon in it, closes it. Node has no name for it. */
const RTLD_NODELETE = 0x1000;

/**
 * Why the system cannot load it; the runtime library keeps that to itself.
 * @param library a path, or a name that the loader looks for
 * @returns undefined: it can
 */
export function findLoadFault(library: string): string | undefined {
  return tryToLoad(library, constants.dlopen.RTLD_LAZY);
}

/** Whatever needs a library of its name has this one from now on. @returns why it cannot be loaded */
export function keepLoaded(path: string): string | undefined {
  return tryToLoad(path, constants.dlopen.RTLD_LAZY | RTLD_NODELETE);
}

function tryToLoad(library: string, flags: number): string | undefined {
  try {
    process.dlopen({ exports: {} }, library, flags);
  } catch (error) {
    // It is no addon of Node's: whatever loads says this.
    const message = messageOf(error);
    return message.includes('did not self-register') ? undefined : message;
  }
  return undefined;
}
