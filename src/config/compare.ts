// Which settings two configurations differ in: those that a running server takes over, and those that wait for a restart.

import type { LoadedConfig } from './load.ts';
import { SETTINGS, type Setting } from './settings.ts';

/** Names of settings whose values are not the same. Values are not told: one of them may be a secret. */
export function findChanges(before: LoadedConfig, after: LoadedConfig, kind: 'reloaded' | 'restarted'): string[] {
  const ofKind = SETTINGS.filter(({ note }) => (note.reloads === true) === (kind === 'reloaded'));
  return ofKind.filter((setting) => write(before, setting) !== write(after, setting)).map(({ name }) => name);
}

function write({ config }: LoadedConfig, { path }: Setting): string | undefined {
  const value = path.reduce<unknown>((section, key) => (section as Record<string, unknown>)[key], config);
  return JSON.stringify(value);
}
