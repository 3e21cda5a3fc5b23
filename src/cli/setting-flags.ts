// Settings of the server as flags, which every command takes.

import type { ValueKind } from './value-kind.ts';

/** Settings given on the command line, by flag name without dashes. */
export type SettingFlags = Readonly<Record<string, string | undefined>>;

export interface SettingFlag {
  readonly name: string;
  readonly type: 'string' | 'boolean';
  readonly help: string;
  /** Absent: any text. */
  readonly values?: ValueKind;
}
