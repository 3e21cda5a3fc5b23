// `umpire serve`: runs the server until it is told to stop.

import { type Command, UsageError } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { renderJson } from './table.ts';

export const serveCommand: Command = {
  name: 'serve',
  group: 'server',
  summary: 'Run the server',
  usage: '[--print-config [--json]] [settings]',
  options: {
    'print-config': { type: 'boolean', help: 'Show every setting with its value and where it comes from, then exit' },
    json: { type: 'boolean', help: 'With --print-config: answer in JSON' },
  },
  examples: [
    { text: 'On port 8080 of this machine', command: 'umpire serve', untested: 'runs until it is stopped' },
    {
      text: 'With a file of settings, and a log for a program to read',
      command: 'umpire serve --config umpire.yaml --log-format json',
      untested: 'runs until it is stopped',
    },
    { text: 'Which settings would hold, and why', command: 'umpire serve --port 9090 --print-config' },
  ],
  json: { isList: true, members: ['name', 'value', 'origin'] },
  showsSettings: true,
  async run({ options, positionals, settings }, program) {
    if (positionals.length > 0) throw new UsageError(`serve takes no "${positionals[0]}".`);
    if (!options['print-config']) {
      if (options['json']) throw new UsageError('--json goes with --print-config; --log-format json is for the log.');
      return await program.serve(settings);
    }
    program.writeOut(options['json'] ? renderJson(program.listConfig(settings)) : program.describeConfig(settings));
    return EXIT.done;
  },
};
