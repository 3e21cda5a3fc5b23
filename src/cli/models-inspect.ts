// `umpire models inspect|remove`: what is known of a model, and the end of a pulled one.

import { type Command, type CommandArguments, UsageError } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { detailsToJson, planToJson, renderDetails, renderPlan, tellSize } from './model-text.ts';
import { RECIPE_OPTIONS, readRequest } from './models-pull.ts';
import type { Program } from './program.ts';
import { JSON_OPTION, renderJson } from './table.ts';

export const modelsInspectCommand: Command = {
  name: 'models inspect',
  group: 'models',
  summary: 'Show all that is known of a model, or what a pull would make of a repository',
  usage: '<id | folder | repository[@revision]> [--json]',
  options: { ...RECIPE_OPTIONS, json: JSON_OPTION },
  operands: 'model',
  notes:
    'A repository’s small files alone are fetched, into a folder that is removed. Options are those of `umpire models pull`.',
  examples: [
    { text: 'A model that is here', command: 'umpire models inspect kev' },
    {
      text: 'One that may be pulled',
      command: 'umpire models inspect Xenova/ms-marco-MiniLM-L-6-v2',
      untested: 'needs a hub; test/process/models-pull.test.ts has one',
    },
  ],
  json: {
    isList: false,
    members: [
      'id',
      'type',
      'family',
      'description',
      'folder',
      'digest',
      'licence',
      'licence_accepted',
      'licence_condition',
      'source',
      'commit',
      'precisions',
      'limits',
      'calibrated',
      'recipe',
      'probe',
      'files',
    ],
  },
  async run(given, program) {
    const request = readRequest(given);
    const sources = await program.openModelSources(given.settings);
    const found = await untilInterrupted(program, (signal) => sources.inspect(request, signal));
    if (found === undefined) return EXIT.stopped;
    const isHere = 'digest' in found;
    if (given.options['json']) program.writeOut(renderJson(isHere ? detailsToJson(found) : planToJson(found)));
    else
      program.writeOut(isHere ? renderDetails(found) : `${renderPlan(found)}\nNothing was fetched but these facts.\n`);
    return EXIT.done;
  },
};

/** @returns undefined: Ctrl-C came first */
async function untilInterrupted<T>(program: Program, run: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
  const stopped = new AbortController();
  const forget = program.onInterrupt(() => stopped.abort());
  try {
    return await run(stopped.signal);
  } catch (error) {
    if (!stopped.signal.aborted) throw error;
    program.writeError('umpire: Stopped.\n');
    return undefined;
  } finally {
    forget();
  }
}

export const modelsRemoveCommand: Command = {
  name: 'models remove',
  group: 'models',
  summary: 'Delete a pulled or learned model',
  usage: '<id> [--yes] [--json]',
  options: { yes: { type: 'boolean', help: 'Do not ask' }, json: JSON_OPTION },
  operands: 'model',
  notes:
    'Only what `umpire models pull` or `umpire learn` has put into the data folder. A running server keeps the model until it ends.',
  examples: [
    {
      text: 'One that is not used any more',
      command: 'umpire models remove multilingual-e5-small --yes',
      untested: 'needs a pulled model; test/process/models-pull.test.ts has one',
    },
  ],
  json: { isList: false, members: ['id', 'folder', 'bytes', 'learned_on_it', 'removed'] },
  async run(given, program) {
    const id = onlyId(given);
    const sources = await program.openModelSources(given.settings);
    const { folder, bytes, learnedOn } = await sources.findPulled(id);
    const isSure = given.options['yes'] === true || (await isConfirmed());
    if (isSure) await sources.remove(id);
    if (given.options['json'])
      program.writeOut(renderJson({ id, folder, bytes, learned_on_it: learnedOn, removed: isSure }));
    else program.writeOut(isSure ? `Removed: ${folder}, ${tellSize(bytes)}.${orphans()}\n` : 'Nothing was removed.\n');
    return EXIT.done;

    function orphans(): string {
      return learnedOn.length === 0 ? '' : ` Learned on it, and not served without it: ${learnedOn.join(', ')}.`;
    }

    async function isConfirmed(): Promise<boolean> {
      if (!program.isTerminal || given.options['json'] === true) {
        throw new UsageError('Add --yes: nobody can be asked here.');
      }
      program.writeOut(`Delete ${folder}, ${tellSize(bytes)}?${orphans()} Type yes: `);
      return /^y(es)?$/i.test((await program.readLine()).trim());
    }
  },
};

function onlyId({ positionals }: CommandArguments): string {
  const [id, ...others] = positionals;
  if (id === undefined || id === '' || others.length > 0)
    throw new UsageError('It takes the id of one pulled or learned model.');
  return id;
}
