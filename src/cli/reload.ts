// `umpire reload`: has a running server read its configuration again, and tells what it took over.

import { z } from 'zod';
import { connectToServer } from '../client/remote-server.ts';
import { findServerUrl, postOnce, refusal, URL_OPTION } from './choose-server.ts';
import { type Command, type CommandArguments, refusePositionals, UsageError } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { CommandError, commandFailure } from './failure.ts';
import type { Program } from './program.ts';
import { JSON_OPTION, renderJson } from './table.ts';

const ROUTE = '/admin/v1/reload';
const NO_BODY = '';
/** Addresses to listen on that are none to ask. */
const EVERY_INTERFACE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' };

const reloadSchema = z.object({ changed: z.array(z.string()), waiting_for_restart: z.array(z.string()) });

export const reloadCommand: Command = {
  name: 'reload',
  group: 'server',
  summary: 'Have a running server read its configuration again',
  usage: '[--url …] [--json] [settings]',
  options: {
    url: { ...URL_OPTION, help: 'Server to tell (UMPIRE_URL); none: the one of these settings' },
    json: JSON_OPTION,
  },
  notes: `The key in UMPIRE_API_KEY must have the scope admin. The server reads the file that it was started with; docs/config.md says which
settings it takes over. A configuration with a fault changes nothing, and the fault is told. Behind a load balancer tell each server.`,
  examples: [
    { text: 'After a change of the file', command: 'umpire reload --url http://127.0.0.1:8080' },
    { text: 'What it took over, for a program', command: 'umpire reload --url http://127.0.0.1:8080 --json' },
  ],
  json: { isList: false, members: ['changed', 'waiting_for_restart'] },
  exits: { 1: 'Nothing was changed: the configuration has faults, or the server did not do it.' },
  async run(given, program) {
    refusePositionals(given);
    const server = connectToServer(
      findServerUrl(given, program) ?? ownAddress(given, program),
      program.clientSettings.apiKey,
    );
    try {
      const reply = await postOnce(server, ROUTE, NO_BODY);
      if (reply.status !== 200) throw refusal(reply, program);
      const report = readReport(reply.body);
      program.writeOut(given.options['json'] ? renderJson(report) : tell(report));
      return EXIT.done;
    } finally {
      await server.close();
    }
  },
};

/** Where a server with these settings listens. @throws UsageError */
function ownAddress({ settings }: CommandArguments, program: Program): string {
  const shown = new Map(program.listConfig(settings).map(({ name, value }) => [name, String(value)]));
  const [host = '', port = ''] = [shown.get('host'), shown.get('port')];
  if (port === '0') throw new UsageError('The port of the server is not known: --url says where it is.');
  const name = EVERY_INTERFACE[host] ?? (host.includes(':') ? `[${host}]` : host);
  return `http://${name}:${port}`;
}

function readReport(body: string): z.output<typeof reloadSchema> {
  try {
    return reloadSchema.parse(JSON.parse(body));
  } catch {
    throw new CommandError(commandFailure('no_answer', 'What answered there is no server that can be told to reload.'));
  }
}

function tell({ changed, waiting_for_restart: waiting }: z.output<typeof reloadSchema>): string {
  const taken =
    changed.length === 0 ? 'Nothing has changed that a running server takes over.' : `Reloaded: ${changed.join(', ')}`;
  const more = waiting.length === 0 ? '' : `These wait for a restart: ${waiting.join(', ')}\n`;
  return `${taken}\n${more}`;
}
