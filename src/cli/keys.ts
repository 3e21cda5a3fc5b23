// `umpire keys …`: works on the configured store, also beside a running server, which sees the change within a second.

import { type ApiKey, keyStateOf } from '../domain/api-key.ts';
import { COMMAND_LINE } from '../domain/audit.ts';
import { toInstant } from '../domain/instant.ts';
import { toBudgetStandingJson, toKeyJson } from '../domain/key-json.ts';
import type { ApiKeyService, CreatedApiKey, KeyPatch } from '../services/keys/keys.ts';
import { type Command, type CommandArguments, type JsonShape, refusePositionals, UsageError } from './command.ts';
import { budgetOf, KEY_OPTIONS, type KeyWish, readKeyWish } from './key-options.ts';
import { KEY_HEADING, toKeyCells, toKeyLines } from './key-text.ts';
import { JSON_OPTION, renderJson, renderTable } from './table.ts';
import { parseSpan } from './times.ts';

const DEFAULT_OVERLAP = '24h';
/** A key's id in examples. */
const SHOWN_ID = 'key_BD9mmzdzbecfcotD';
const KEY_JSON: JsonShape = {
  isList: false,
  members: [
    'id',
    'name',
    'visible_prefix',
    'state',
    'scopes',
    'models',
    'budget',
    'limits',
    'created_at',
    'created_by',
    'expires_at',
    'disabled_at',
    'revoked_at',
    'last_used_at',
  ],
};
const WISHES = '[--scope …] [--model …] [--expires …] [--budget … --reset …] [--requests-per-minute …] …';

export const keysCreateCommand: Command = {
  name: 'keys create',
  group: 'keys',
  summary: 'Create an API key; it is shown this once',
  usage: `--name … ${WISHES} [--json]`,
  options: { ...KEY_OPTIONS, json: JSON_OPTION },
  notes: 'What is left out: scope inference, all models, no end, no budget, no limits.',
  examples: [
    { text: 'A key for one client', command: 'umpire keys create --name billing' },
    {
      text: 'One that may use one model, and spend 12.50 dollars a month',
      command:
        'umpire keys create --name shop --model kev --budget 12.50 --reset month \\\n  --requests-per-minute 600 --expires 30d',
    },
    { text: 'An administrator', command: 'umpire keys create --name ops --scope admin --scope inference --json' },
  ],
  json: { ...KEY_JSON, members: [...KEY_JSON.members, 'key'] },
  async run(given, program) {
    refusePositionals(given);
    const wish = readKeyWish(given, Date.now());
    const { name, models = null, expiresAtMs = null } = wish;
    if (name === undefined) throw new UsageError('--name is needed: what the key is for.');
    const wanted = { ...toPatch(wish, null), name, models, expiresAtMs };
    const created = await program.withServices(given.settings, ({ keys }) => keys.create(wanted, COMMAND_LINE));
    program.writeOut(tellSecret(created, given, { words: `Created ${created.key.id} (${created.key.name}).` }));
    return 0;
  },
};

export const keysListCommand: Command = {
  name: 'keys list',
  group: 'keys',
  summary: 'List API keys, oldest first',
  usage: '[--json]',
  options: { json: JSON_OPTION },
  examples: [
    { text: 'All keys, never a secret', command: 'umpire keys list' },
    { text: 'For a program', command: 'umpire keys list --json' },
  ],
  json: { ...KEY_JSON, isList: true },
  async run(given, program) {
    refusePositionals(given);
    const found = await program.withServices(given.settings, ({ keys }) => keys.list());
    if (given.options['json']) program.writeOut(renderJson(found.map(toJson)));
    else if (found.length === 0) program.writeOut('No keys. `umpire keys create --name …` makes one.\n');
    else program.writeOut(renderTable([KEY_HEADING, ...found.map((key) => toKeyCells(key, Date.now()))]));
    return 0;
  },
};

export const keysShowCommand: Command = {
  name: 'keys show',
  group: 'keys',
  summary: 'Show what an API key may do, and what it has left',
  usage: '<id> [--json]',
  options: { json: JSON_OPTION },
  examples: [{ text: 'What is left of its budget', command: `umpire keys show ${SHOWN_ID}` }],
  json: KEY_JSON,
  async run(given, program) {
    const id = readId(given, 'keys show');
    const { key, standing } = await program.withServices(given.settings, async ({ keys, usage }) => {
      const found = await keys.get(id);
      return { key: found, standing: await usage.standing(found) };
    });
    if (given.options['json'])
      program.writeOut(renderJson({ ...toJson(key), budget: toBudgetStandingJson(key, standing) }));
    else program.writeOut(renderTable(toKeyLines(key, standing, Date.now())));
    return 0;
  },
};

export const keysRotateCommand: Command = {
  name: 'keys rotate',
  group: 'keys',
  summary: 'Give an API key a new secret; it is shown this once',
  usage: '<id> [--overlap …] [--json]',
  options: {
    overlap: {
      type: 'string',
      help: `How long the older secret still works; ${DEFAULT_OVERLAP} if left out`,
      example: '7d',
    },
    json: JSON_OPTION,
  },
  examples: [
    { text: 'A new secret; the older one works for a day more', command: `umpire keys rotate ${SHOWN_ID}` },
    { text: 'Or for a week', command: `umpire keys rotate ${SHOWN_ID} --overlap 7d` },
  ],
  json: { ...KEY_JSON, members: [...KEY_JSON.members, 'previous_secrets_expire_at', 'key'] },
  async run(given, program) {
    const id = readId(given, 'keys rotate');
    const overlapMs = parseSpan(String(given.options['overlap'] ?? DEFAULT_OVERLAP), '--overlap');
    const rotated = await program.withServices(given.settings, ({ keys }) => keys.rotate(id, COMMAND_LINE, overlapMs));
    const until = toInstant(rotated.overlapEndsAtMs);
    const told = {
      words: `Rotated ${id}. Older secrets work until ${until}.`,
      json: { previous_secrets_expire_at: until },
    };
    program.writeOut(tellSecret(rotated, given, told));
    return 0;
  },
};

export const keysUpdateCommand: Command = changeCommand({
  name: 'keys update',
  summary: 'Change what an API key may do',
  usage: `<id> [--name …] ${WISHES}`,
  options: KEY_OPTIONS,
  notes: 'What is left out stays as it is.',
  examples: [
    { text: 'A larger budget', command: `umpire keys update ${SHOWN_ID} --budget 50` },
    {
      text: 'All models, no limit of requests',
      command: `umpire keys update ${SHOWN_ID} --models all --requests-per-minute none`,
    },
  ],
  done: 'Updated',
  change: async (keys, id, wish) => keys.update(id, toPatch(wish, await keys.get(id)), COMMAND_LINE),
});

export const keysDisableCommand: Command = changeCommand({
  name: 'keys disable',
  summary: 'Refuse an API key until it is enabled again',
  examples: [{ text: 'Its next request is refused', command: `umpire keys disable ${SHOWN_ID}` }],
  done: 'Disabled',
  change: (keys, id) => keys.update(id, { isDisabled: true }, COMMAND_LINE),
});

export const keysEnableCommand: Command = changeCommand({
  name: 'keys enable',
  summary: 'Let a disabled API key work again',
  examples: [{ text: 'After `umpire keys disable`', command: `umpire keys enable ${SHOWN_ID}` }],
  done: 'Enabled',
  change: (keys, id) => keys.update(id, { isDisabled: false }, COMMAND_LINE),
});

export const keysRevokeCommand: Command = changeCommand({
  name: 'keys revoke',
  summary: 'Revoke an API key for good',
  examples: [{ text: 'Nothing brings it back', command: `umpire keys revoke ${SHOWN_ID}` }],
  done: 'Revoked',
  change: (keys, id) => keys.revoke(id, COMMAND_LINE),
});

interface Change
  extends Pick<Command, 'name' | 'summary' | 'examples'>,
    Partial<Pick<Command, 'usage' | 'options' | 'notes'>> {
  readonly done: string;
  readonly change: (keys: ApiKeyService, id: string, wish: KeyWish) => Promise<ApiKey>;
}

/** A command that changes one key and shows no secret. */
function changeCommand({ done, change, ...parts }: Change): Command {
  const { usage = '<id>', options = {} } = parts;
  return {
    ...parts,
    group: 'keys',
    json: KEY_JSON,
    usage: `${usage} [--json]`,
    options: { ...options, json: JSON_OPTION },
    async run(given, program) {
      const id = readId(given, parts.name);
      const wish = readKeyWish(given, Date.now());
      if (parts.options !== undefined && Object.keys(wish).length === 0) throw new UsageError('What is to change?');
      const key = await program.withServices(given.settings, ({ keys }) => change(keys, id, wish));
      program.writeOut(given.options['json'] ? renderJson(toJson(key)) : `${done} ${id}.\n`);
      return 0;
    },
  };
}

function toJson(key: ApiKey): object {
  return toKeyJson(key, keyStateOf(key, Date.now()));
}

function readId({ positionals }: CommandArguments, command: string): string {
  const [id, ...others] = positionals;
  if (id === undefined || others.length > 0)
    throw new UsageError(`${command} takes one id; \`umpire keys list\` shows them.`);
  return id;
}

/** @param current the key as it is; null: it is yet to be made */
function toPatch(wish: KeyWish, current: ApiKey | null): KeyPatch {
  const { budgetPicoUsd: _amount, reset: _reset, ...fields } = wish;
  const budget = budgetOf(wish, current?.budget ?? null);
  return { ...fields, ...(budget === undefined ? {} : { budget }) };
}

/** To standard output and nowhere else. */
function tellSecret({ key, secret }: CreatedApiKey, given: CommandArguments, told: SecretTold): string {
  if (given.options['json']) return renderJson({ ...toJson(key), ...told.json, key: secret });
  return `${told.words} It is shown only now:\n\n  ${secret}\n\n`;
}

interface SecretTold {
  readonly words: string;
  /** Beside the key. */
  readonly json?: object;
}
