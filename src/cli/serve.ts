// `umpire serve`: runs the server until it is told to stop.

import { type Command, UsageError } from './command.ts';

export const serveCommand: Command = {
  name: 'serve',
  summary: 'Run the server',
  usage: '[--print-config] [settings]',
  options: {
    'print-config': { type: 'boolean', help: 'Show every setting with its value and where it comes from, then exit' },
  },
  showsSettings: true,
  async run({ options, positionals, settings }, program) {
    if (positionals.length > 0) throw new UsageError(`serve takes no "${positionals[0]}".`);
    if (!options['print-config']) return await program.serve(settings);
    program.writeOut(program.describeConfig(settings));
    return 0;
  },
};
