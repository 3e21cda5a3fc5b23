// `umpire keys create|list|revoke`: works on the store of the data folder, also beside a running server, which sees the
// change within a second.

import type { ApiKey } from '../domain/api-key.ts';
import { type Command, type CommandArguments, UsageError } from './command.ts';
import { renderTable } from './table.ts';
import { parseExpiry } from './times.ts';

const JSON_OPTION = { type: 'boolean', help: 'Answer in JSON' } as const;
const MAX_NAME_LENGTH = 200;

export const keysCreateCommand: Command = {
  name: 'keys create',
  summary: 'Create an API key; it is shown this once',
  usage: '--name … [--models …] [--expires …] [--json]',
  options: {
    name: { type: 'string', help: 'What the key is for', example: 'billing' },
    models: { type: 'string', help: 'Models it may use; all if left out', example: 'kev,text-embed-mini' },
    expires: { type: 'string', help: 'After 90m, 12h, 30d, 52w, or at a date; never if left out', example: '30d' },
    json: JSON_OPTION,
  },
  async run(given, program) {
    refusePositionals(given);
    const nowMs = Date.now();
    const { name, models, expires } = given.options;
    const wanted = {
      name: parseName(name),
      models: typeof models === 'string' ? parseModels(models) : null,
      expiresAtMs: typeof expires === 'string' ? parseExpiry(expires, nowMs) : null,
    };
    const { key, secret } = await program.withKeys(given.settings, (keys) => keys.create(wanted));
    const json = `${JSON.stringify({ ...toJson(key), key: secret })}\n`;
    program.writeOut(
      given.options['json'] ? json : `Created ${key.id} (${key.name}). It is shown only now:\n\n  ${secret}\n\n`,
    );
    return 0;
  },
};

export const keysListCommand: Command = {
  name: 'keys list',
  summary: 'List API keys, oldest first',
  usage: '[--json]',
  options: { json: JSON_OPTION },
  async run(given, program) {
    refusePositionals(given);
    const keys = await program.withKeys(given.settings, (service) => service.list());
    if (given.options['json']) program.writeOut(`${JSON.stringify(keys.map(toJson))}\n`);
    else if (keys.length === 0) program.writeOut('No keys. `umpire keys create --name …` makes one.\n');
    else program.writeOut(renderTable([HEADING, ...keys.map((key) => toRow(key, Date.now()))]));
    return 0;
  },
};

export const keysRevokeCommand: Command = {
  name: 'keys revoke',
  summary: 'Revoke an API key by its id',
  usage: '<id>',
  options: {},
  async run({ positionals, settings }, program) {
    const [id, ...others] = positionals;
    if (id === undefined || others.length > 0)
      throw new UsageError('keys revoke takes one id; `umpire keys list` shows them.');
    const found = await program.withKeys(settings, (keys) => keys.revoke(id));
    if (found) program.writeOut(`Revoked ${id}.\n`);
    else program.writeError('There is no key with this id. `umpire keys list` shows them.\n');
    return found ? 0 : 1;
  },
};

const HEADING = ['ID', 'KEY', 'NAME', 'MODELS', 'CREATED', 'EXPIRES', 'STATE'] as const;

function toRow(key: ApiKey, nowMs: number): string[] {
  const expires = key.expiresAtMs === null ? 'never' : toDay(key.expiresAtMs);
  const state =
    key.revokedAtMs !== null ? 'revoked' : key.expiresAtMs !== null && key.expiresAtMs <= nowMs ? 'expired' : 'active';
  return [
    key.id,
    `${key.visiblePrefix}…`,
    key.name,
    key.models?.join(',') ?? 'all',
    toDay(key.createdAtMs),
    expires,
    state,
  ];
}

function toDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

function toJson(key: ApiKey): object {
  const time = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());
  return {
    id: key.id,
    name: key.name,
    visible_prefix: key.visiblePrefix,
    models: key.models,
    scopes: key.scopes,
    created_at: time(key.createdAtMs),
    expires_at: time(key.expiresAtMs),
    revoked_at: time(key.revokedAtMs),
  };
}

function parseName(name: unknown): string {
  if (typeof name !== 'string' || name.trim() === '') throw new UsageError('--name is needed: what the key is for.');
  // A name is printed in tables: no line breaks, no terminal codes.
  if (name.length > MAX_NAME_LENGTH || /\p{Cc}/u.test(name)) {
    throw new UsageError(`--name takes at most ${MAX_NAME_LENGTH} characters, none of them control characters.`);
  }
  return name.trim();
}

function parseModels(models: string): string[] {
  const ids = models.split(',').map((id) => id.trim());
  if (ids.includes('')) throw new UsageError('--models takes model ids with commas between them.');
  return ids;
}

function refusePositionals({ positionals }: CommandArguments): void {
  if (positionals.length > 0) throw new UsageError(`There is nothing to do with "${positionals[0]}".`);
}
