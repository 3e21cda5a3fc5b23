// The tools of `npm run check:api`: two npm packages, and schemathesis in a Python environment.

import { join } from 'node:path';
import { installPinnedTools } from './pinned-tools.ts';

const FOLDER = join(import.meta.dirname, 'tools');

export const SPECTRAL = join(FOLDER, 'node_modules', '.bin', 'spectral');
export const REDOCLY = join(FOLDER, 'node_modules', '.bin', 'redocly');
export const SCHEMATHESIS = join(FOLDER, '.venv', 'bin', 'schemathesis');

/** @throws Error when a registry or a program is missing */
export function installTools(): void {
  installPinnedTools({ folder: FOLDER });
}
