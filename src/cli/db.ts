// `umpire db backup|restore|check|copy`: the store as one thing.

import { formatUsd } from '../domain/money.ts';
import type { CheckedStore, CopiedStore } from '../domain/store-report.ts';
import { type Command, type CommandArguments, refusePositionals, UsageError } from './command.ts';
import { EXIT } from './exit-codes.ts';
import type { CopyTarget } from './store-tools.ts';
import { JSON_OPTION, renderJson, renderTable } from './table.ts';

const TARGET_VARIABLE = 'UMPIRE_TARGET_DATABASE_URL';

export const dbBackupCommand: Command = {
  name: 'db backup',
  group: 'store',
  summary: 'Copy the store into a file, also while a server runs',
  usage: '<file> [--force] [--json]',
  options: {
    force: { type: 'boolean', help: 'Overwrite the file if it exists' },
    json: JSON_OPTION,
  },
  operands: 'file',
  examples: [
    { text: 'Beside a running server', command: 'umpire db backup umpire.backup' },
    { text: 'Every night, over the last one', command: 'umpire db backup umpire.backup --force --json' },
  ],
  json: { isList: false, members: ['file', 'bytes', 'schema'] },
  notes:
    'The file holds all keys (hashed), prices and the ledger, and is readable by its owner alone. For a store on PostgreSQL\nthe command of its own program is told.',
  async run(given, program) {
    const overwrite = given.options['force'] === true;
    const copy = await program.storeTools.backup(given.settings, onlyFile(given), { overwrite });
    const { file, bytes, schemaVersion } = copy;
    if (given.options['json']) program.writeOut(renderJson({ file, bytes, schema: schemaVersion }));
    else
      program.writeOut(`Backed up to ${file} (${bytes} bytes, schema ${schemaVersion}); read back without a fault.\n`);
    return 0;
  },
};

export const dbRestoreCommand: Command = {
  name: 'db restore',
  group: 'store',
  summary: 'Put a backup in the place of the store; the server must be stopped',
  usage: '<file> [--json]',
  options: { json: JSON_OPTION },
  operands: 'file',
  examples: [{ text: 'What a backup holds; the server is stopped', command: 'umpire db restore umpire.backup' }],
  json: { isList: false, members: ['file', 'schema', 'kept_aside'] },
  notes:
    'The store that is there is kept beside it. Keys are then as they were at the time of the backup: what was revoked or\nrotated since is valid again as before.',
  async run(given, program) {
    const { file, schemaVersion, keptAside } = await program.storeTools.restore(given.settings, onlyFile(given));
    if (given.options['json']) {
      program.writeOut(renderJson({ file, schema: schemaVersion, kept_aside: keptAside }));
      return 0;
    }
    program.writeOut(`Restored ${file} (schema ${schemaVersion}).\n`);
    if (keptAside !== null) program.writeOut(`The store that was there is now ${keptAside}.\n`);
    return 0;
  },
};

export const dbCheckCommand: Command = {
  name: 'db check',
  group: 'store',
  summary: 'Check that the store is sound and its books agree',
  usage: '[--json]',
  options: { json: JSON_OPTION },
  notes: 'Changes nothing, and may run beside a server. On a large store it reads for a while.',
  examples: [{ text: 'Is every cent where it belongs?', command: 'umpire db check' }],
  json: {
    isList: false,
    members: ['store', 'schema', 'newest_schema', 'ok', 'faults', 'keys', 'ledger_rows', 'open_requests', 'cost_usd'],
  },
  exits: { 1: 'The file is damaged, or the books do not agree.' },
  async run(given, program) {
    refusePositionals(given);
    const check = await program.storeTools.check(given.settings);
    const faults = [...check.damage, ...(check.books?.faults ?? [])];
    program.writeOut(given.options['json'] ? renderJson(toJson(check, faults)) : describe(check, faults));
    return faults.length === 0 ? EXIT.done : EXIT.failed;
  },
};

export const dbCopyCommand: Command = {
  name: 'db copy',
  group: 'store',
  summary: 'Copy everything into another, empty store: from SQLite to PostgreSQL or back',
  usage: '[--to …] [--json]',
  options: {
    to: {
      type: 'string',
      help: 'Address without a password, or a data folder',
      example: 'postgres://…',
      values: 'folder',
    },
    json: JSON_OPTION,
  },
  examples: [
    { text: 'Into another data folder', command: 'umpire db copy --to ./other-data' },
    {
      text: 'Into PostgreSQL',
      command: `${TARGET_VARIABLE}=postgres://user:password@host/umpire umpire db copy`,
      untested: 'needs a PostgreSQL; test/process/db.test.ts has one',
    },
  ],
  json: { isList: false, members: ['tables', 'cost_usd'] },
  notes: `An address with a password belongs in ${TARGET_VARIABLE}, because command lines are visible to others. Servers of\nboth stores must be stopped. What was copied is read back and compared before it counts.`,
  async run(given, program) {
    refusePositionals(given);
    const target = readTarget(given.options['to'], program.storeTools.targetDatabaseUrl);
    const copy = await program.storeTools.copy(given.settings, target);
    program.writeOut(given.options['json'] ? renderJson(toCopyJson(copy)) : describeCopy(copy));
    return 0;
  },
};

function onlyFile({ positionals }: CommandArguments): string {
  const [file, ...others] = positionals;
  if (file === undefined || file === '' || others.length > 0) throw new UsageError('It takes one file.');
  return file;
}

/** @throws UsageError which never quotes an address */
function readTarget(to: unknown, configured: string | undefined): CopyTarget {
  if (typeof to === 'string' && configured !== undefined)
    throw new UsageError(`Either --to or ${TARGET_VARIABLE}, not both.`);
  if (typeof to !== 'string') {
    if (configured === undefined) throw new UsageError(`Where to? Give --to, or set ${TARGET_VARIABLE}.`);
    return { type: 'postgres', url: checkAddress(configured, TARGET_VARIABLE) };
  }
  if (to === '') throw new UsageError('--to takes an address or a data folder.');
  if (!/^[a-z]+:\/\//i.test(to)) return { type: 'sqlite', dataDir: to };
  const url = checkAddress(to, '--to');
  const { password, searchParams } = new URL(url);
  if (password !== '' || searchParams.has('password'))
    throw new UsageError(`--to must not hold a password: set ${TARGET_VARIABLE} instead.`);
  return { type: 'postgres', url };
}

function checkAddress(url: string, name: string): string {
  if (/^postgres(ql)?:\/\//.test(url) && URL.canParse(url)) return url;
  throw new UsageError(`${name} must be a postgres:// address.`);
}

function describe(
  { name, schemaVersion, newestSchemaVersion, damage, books }: CheckedStore,
  faults: readonly string[],
) {
  const isOlder = schemaVersion !== undefined && schemaVersion < newestSchemaVersion;
  const lines: (readonly [string, string])[] = [
    ['store', name],
    ['schema', schemaVersion === undefined ? 'unreadable' : `${schemaVersion} of ${newestSchemaVersion}`],
  ];
  if (books !== undefined) {
    lines.push(['keys', String(books.keys)], ['ledger rows', String(books.ledgerRows)]);
    lines.push(['open requests', String(books.openReservations)], ['cost in all', `$${formatUsd(books.costPicoUsd)}`]);
  }
  const verdict = isOlder
    ? ['The file is sound. Its schema is an older one, which the next start brings up to date; then check again.']
    : ['No fault found.'];
  const told = faults.length === 0 ? verdict : [heading(damage), ...faults.map((fault) => `  - ${fault}`)];
  return `${renderTable(lines)}\n${told.join('\n')}\n`;
}

function heading(damage: readonly string[]): string {
  return damage.length > 0 ? 'The file is damaged:' : 'The books do not agree:';
}

function toJson({ name, schemaVersion, newestSchemaVersion, books }: CheckedStore, faults: readonly string[]): object {
  return {
    store: name,
    schema: schemaVersion ?? null,
    newest_schema: newestSchemaVersion,
    ok: faults.length === 0,
    faults,
    ...(books === undefined
      ? {}
      : {
          keys: books.keys,
          ledger_rows: books.ledgerRows,
          open_requests: books.openReservations,
          cost_usd: formatUsd(books.costPicoUsd),
        }),
  };
}

function describeCopy({ tables, costPicoUsd }: CopiedStore): string {
  const rows = tables.map(({ table, rows: count }) => [table, String(count)]);
  const table = renderTable([['TABLE', 'ROWS'], ...rows], new Set([1]));
  return `${table}\nCopied, read back and compared. Cost in all: $${formatUsd(costPicoUsd)} on both sides.\n`;
}

function toCopyJson({ tables, costPicoUsd }: CopiedStore): object {
  return {
    tables: Object.fromEntries(tables.map(({ table, rows }) => [table, rows])),
    cost_usd: formatUsd(costPicoUsd),
  };
}
