// A loaded configuration as it holds, secrets masked: lines for people (`name = value  (origin)`), or values.

import type { LoadedConfig } from './load.ts';
import { SETTINGS, type Setting } from './settings.ts';

const MASK = '********';

/** One line a setting. A secret shows only that it is set. */
export function printConfig({ config, origins }: LoadedConfig): string {
  const lines = SETTINGS.map((setting) => {
    const shown = `${setting.name} = ${showValue(setting, settingValue(config, setting))}`;
    return `${shown.padEnd(56)} (${origins.get(setting.name)})`;
  });
  return `${lines.join('\n')}\n`;
}

/** Every setting; null: unset. */
export function listConfig({ config, origins }: LoadedConfig): { name: string; value: unknown; origin: string }[] {
  return SETTINGS.map((setting) => ({
    name: setting.name,
    value: maskValue(setting, settingValue(config, setting)),
    origin: origins.get(setting.name) ?? 'default',
  }));
}

function settingValue(config: object, setting: Setting): unknown {
  return setting.path.reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], config);
}

function showValue(setting: Setting, value: unknown): string {
  if (value === undefined) return setting.note.defaultText ?? 'unset';
  return setting.note.secret ? MASK : writeMasked(value);
}

function maskValue(setting: Setting, value: unknown): unknown {
  if (value === undefined) return null;
  return setting.note.secret ? MASK : JSON.parse(writeMasked(value));
}

function writeMasked(value: unknown): string {
  return JSON.stringify(value, (key, inner: unknown) => (key === 'baseUrl' ? maskQuery(String(inner)) : inner));
}

/** Some services take their key in the address. */
function maskQuery(url: string): string {
  return url.replace(/\?.*$/, `?${MASK}`);
}
