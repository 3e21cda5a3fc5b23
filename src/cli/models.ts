// `umpire models list|verify`: what is configured, and whether the folders are what their checksums and golden answers say.

import { type Command, refusePositionals } from './command.ts';
import type { ListedModel, VerifiedModel } from './program.ts';
import { JSON_OPTION, renderJson, renderTable } from './table.ts';

/** Enough to find it by. */
const COMMIT_DIGITS = 12;

export const modelsListCommand: Command = {
  name: 'models list',
  group: 'models',
  summary: 'List the configured models',
  notes: 'Checksums are verified, nothing is loaded.',
  usage: '[--json]',
  options: { json: JSON_OPTION },
  examples: [{ text: 'Models, where they come from, and their digests', command: 'umpire models list' }],
  json: {
    isList: true,
    members: ['id', 'type', 'description', 'source', 'digest', 'load', 'licence', 'repo', 'commit', 'base', 'fault'],
  },
  async run(given, program) {
    refusePositionals(given);
    const models = await program.listModels(given.settings);
    if (given.options['json']) program.writeOut(renderJson(models.map(({ price: _price, ...model }) => model)));
    else program.writeOut(renderTable([['ID', 'TYPE', 'LICENCE', 'FROM', 'LOADED', 'DIGEST'], ...models.map(toRow)]));
    return 0;
  },
};

export const modelsVerifyCommand: Command = {
  name: 'models verify',
  group: 'models',
  summary: 'Load model folders and compare checksums and golden answers',
  usage: '[folder …] [--json]',
  options: { json: JSON_OPTION },
  operands: 'folder',
  notes: 'Without folders it verifies those of the configuration.',
  examples: [
    { text: 'All configured models', command: 'umpire models verify' },
    { text: 'One folder', command: 'umpire models verify ./my-kev' },
  ],
  json: { isList: true, members: ['folder', 'id', 'digest', 'device'] },
  async run({ options, positionals, settings }, program) {
    const verified: VerifiedModel[] = [];
    for await (const model of program.verifyModels(settings, positionals)) {
      const { folder, id, digest, device } = model;
      verified.push(model);
      if (!options['json'])
        program.writeOut(`${program.paint('green', 'ok')}  ${id}  ${digest}  on ${device}  ${folder}\n`);
    }
    if (options['json']) program.writeOut(renderJson(verified));
    return 0;
  },
};

function toRow({ id, type, source, load, digest, licence, repo, commit, base, fault }: ListedModel): string[] {
  const when = { start: 'at the start', 'first-use': 'at first use' };
  const pulled = repo === undefined ? source : `${repo} at ${commit?.slice(0, COMMIT_DIGITS)}`;
  const from = base === undefined ? pulled : `learned on ${base}`;
  return [
    id,
    type,
    licence ?? '–',
    fault === undefined ? from : `not served: ${fault}`,
    load === undefined ? '–' : when[load],
    digest ?? '–',
  ];
}
