// The schema as a flat list of settings: path, environment variable, flag, kind. Derived; nothing is declared here.

import { z } from 'zod';
import { configSchema } from './schema.ts';
import { type SettingNote, settingNotes } from './setting-kinds.ts';

/** How text from the environment or a flag becomes a value. */
export type SettingKind = 'text' | 'number' | 'boolean' | 'list' | 'list or structure' | 'structure';

export interface Setting {
  readonly path: readonly string[];
  /** `engine.queueMaxJobs` */
  readonly name: string;
  /** `UMPIRE_ENGINE_QUEUE_MAX_JOBS` */
  readonly env: string;
  /** `engine-queue-max-jobs`, without the dashes. */
  readonly flag: string;
  readonly kind: SettingKind;
  readonly note: SettingNote;
  readonly schema: z.ZodType;
}

export const SETTINGS: readonly Setting[] = listSettings(configSchema, []);

/** What is inside optional, default and prefault. */
export function unwrap(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional) {
    return unwrap(schema.def.innerType as z.ZodType);
  }
  return schema;
}

/** @throws Error when a setting has no note: every setting is documented */
export function noteOf(schema: z.ZodType, name: string): SettingNote {
  const note = settingNotes.get(schema);
  if (note === undefined) throw new Error(`The setting ${name} has no help.`);
  return note;
}

function listSettings(object: z.ZodObject, parents: readonly string[]): Setting[] {
  return Object.entries(object.shape).flatMap(([key, schema]) => {
    const path = [...parents, key];
    const inner = unwrap(schema as z.ZodType);
    return inner instanceof z.ZodObject ? listSettings(inner, path) : [toSetting(path, schema as z.ZodType)];
  });
}

function toSetting(path: readonly string[], schema: z.ZodType): Setting {
  const name = path.join('.');
  const words = path.flatMap((part) => part.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`).split('-'));
  return {
    path,
    name,
    env: `UMPIRE_${words.join('_').toUpperCase()}`,
    flag: words.join('-'),
    kind: kindOf(unwrap(schema)),
    note: noteOf(schema, name),
    schema,
  };
}

function kindOf(schema: z.ZodType): SettingKind {
  if (schema instanceof z.ZodNumber) return 'number';
  if (schema instanceof z.ZodBoolean) return 'boolean';
  if (schema instanceof z.ZodArray) return kindOfList(unwrap(schema.element as z.ZodType));
  return schema instanceof z.ZodRecord ? 'structure' : 'text';
}

function kindOfList(element: z.ZodType): SettingKind {
  if (element instanceof z.ZodString) return 'list';
  return element instanceof z.ZodUnion ? 'list or structure' : 'structure';
}
