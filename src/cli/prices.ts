// `umpire prices list|set`: prices in the store, which go before those of the models themselves.

import { COMMAND_LINE } from '../services/actor.ts';
import { type DatedPrice, formatPrice } from '../services/prices.ts';
import { parsePrice } from './amounts.ts';
import { type Command, type CommandArguments, refusePositionals, UsageError } from './command.ts';
import { CSV_OPTION, type Field, JSON_OPTION, renderJson, toObject, writeRows } from './table.ts';
import { parseMoment, toTime } from './times.ts';

const FIELDS: readonly Field<DatedPrice>[] = [
  { name: 'model', heading: 'MODEL', value: ({ modelId }) => modelId },
  { name: 'effective_from', heading: 'FROM', value: ({ effectiveFromMs }) => toTime(effectiveFromMs) },
  { name: 'input_usd', heading: 'INPUT', value: ({ price }) => formatPrice(price.inputMicroUsd) },
  { name: 'cached_input_usd', heading: 'CACHED', value: ({ price }) => formatPrice(price.cachedInputMicroUsd) },
  { name: 'output_usd', heading: 'OUTPUT', value: ({ price }) => formatPrice(price.outputMicroUsd) },
  { name: 'created_at', value: ({ createdAtMs }) => toTime(createdAtMs) },
  { name: 'created_by', heading: 'SET BY', value: ({ createdBy }) => createdBy },
];

export const pricesListCommand: Command = {
  name: 'prices list',
  summary: 'List the prices that were set: past, present and to come',
  usage: '[--json | --csv]',
  options: { json: JSON_OPTION, csv: CSV_OPTION },
  notes: 'Dollars per 1,000,000 tokens. A model without one costs what its folder or the configuration says.',
  async run(given, program) {
    refusePositionals(given);
    const rows = await program.withServices(given.settings, ({ prices }) => prices.list());
    writeRows(program, given, { rows, fields: FIELDS, none: 'No prices were set: every model has its own.' });
    return 0;
  },
};

export const pricesSetCommand: Command = {
  name: 'prices set',
  summary: 'Set the price of a model, from now or a date on',
  usage: '<model> --input … --output … [--cached …] [--from …] [--json]',
  options: {
    input: { type: 'string', help: 'Dollars per 1,000,000 input tokens', example: '0.0378' },
    cached: {
      type: 'string',
      help: 'The same for input that an upstream had cached; as input if left out',
      example: '0.01',
    },
    output: { type: 'string', help: 'Dollars per 1,000,000 output tokens, reasoning included', example: '0' },
    from: { type: 'string', help: 'When it takes effect, in UTC; now if left out', example: '2027-01-31' },
    json: JSON_OPTION,
  },
  notes: 'A price is never changed, only followed by a later one. What was accepted before keeps its price.',
  async run(given, program) {
    const wanted = readPrice(given);
    const set = await program.withServices(given.settings, ({ prices }) => prices.set(wanted, COMMAND_LINE));
    const told = `Set the price of ${set.modelId} from ${toTime(set.effectiveFromMs)} on.\n`;
    program.writeOut(given.options['json'] ? renderJson(toObject(set, FIELDS)) : told);
    return 0;
  },
};

/** @throws UsageError */
function readPrice({ options, positionals }: CommandArguments) {
  const [modelId, ...others] = positionals;
  if (modelId === undefined || others.length > 0) throw new UsageError('prices set takes one model.');
  const { input, cached = input, output, from } = options;
  if (typeof input !== 'string' || typeof output !== 'string') throw new UsageError('--input and --output are needed.');
  const price = {
    inputMicroUsd: parsePrice(input, '--input'),
    cachedInputMicroUsd: parsePrice(String(cached), '--cached'),
    outputMicroUsd: parsePrice(output, '--output'),
  };
  return { modelId, price, effectiveFromMs: typeof from === 'string' ? parseMoment(from, '--from') : undefined };
}
