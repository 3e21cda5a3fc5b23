// `umpire audit`: who changed keys and prices, and when.

import type { StoredAuditRecord } from '../domain/audit.ts';
import { toInstant } from '../domain/instant.ts';
import { LIMIT_OPTION, readLimit } from './amounts.ts';
import { type Command, refusePositionals } from './command.ts';
import { CSV_OPTION, type Field, JSON_OPTION, renderJson, shapeOf, toObject, writeRows } from './table.ts';

const FIELDS: readonly Field<StoredAuditRecord>[] = [
  { name: 'id', value: ({ id }) => id },
  { name: 'at', heading: 'AT', value: ({ atMs }) => toInstant(atMs) },
  { name: 'actor', heading: 'BY', value: ({ actor }) => actor },
  { name: 'action', heading: 'ACTION', value: ({ action }) => action },
  { name: 'target', heading: 'TARGET', value: ({ target }) => target },
  { name: 'details', heading: 'DETAILS', value: ({ details }) => JSON.stringify(details) },
];

export const auditCommand: Command = {
  name: 'audit',
  group: 'money',
  summary: 'Who changed keys and prices, newest first',
  usage: '[--limit …] [--json | --csv]',
  options: { limit: LIMIT_OPTION, json: JSON_OPTION, csv: CSV_OPTION },
  examples: [
    { text: 'The last changes', command: 'umpire audit' },
    { text: 'The last 500, for a spreadsheet', command: 'umpire audit --limit 500 --csv' },
  ],
  json: shapeOf(FIELDS),
  async run(given, program) {
    refusePositionals(given);
    const limit = readLimit(given);
    const { items } = await program.withServices(given.settings, ({ audit }) =>
      audit.list({ before: undefined, limit }),
    );
    if (given.options['json'])
      program.writeOut(renderJson(items.map((item) => ({ ...toObject(item, FIELDS), details: item.details }))));
    else writeRows(program, given, { rows: items, fields: FIELDS, none: 'Nothing was changed yet.' });
    return 0;
  },
};
