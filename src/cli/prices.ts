// `umpire prices list|set`: what models cost. A price in the store goes before that of the model itself.

import { COMMAND_LINE } from '../domain/audit.ts';
import { toInstant } from '../domain/instant.ts';
import { type DatedPrice, formatPrice, type Price } from '../domain/money.ts';
import type { NewPrice } from '../services/prices.ts';
import { parsePrice } from './amounts.ts';
import { type Command, type CommandArguments, refusePositionals, UsageError } from './command.ts';
import type { Program } from './program.ts';
import { CSV_OPTION, type Field, JSON_OPTION, renderJson, shapeOf, toObject, writeRows } from './table.ts';
import { parseMoment } from './times.ts';

interface CurrentPrice {
  readonly modelId: string;
  readonly price: Price;
  /** undefined: the model's own holds. */
  readonly set: DatedPrice | undefined;
}

const PRICE_FIELDS: readonly Field<{ readonly modelId: string; readonly price: Price }>[] = [
  { name: 'model', heading: 'MODEL', value: ({ modelId }) => modelId },
  { name: 'input_usd', heading: 'INPUT', value: ({ price }) => formatPrice(price.inputMicroUsd) },
  { name: 'cached_input_usd', heading: 'CACHED', value: ({ price }) => formatPrice(price.cachedInputMicroUsd) },
  { name: 'output_usd', heading: 'OUTPUT', value: ({ price }) => formatPrice(price.outputMicroUsd) },
];

const CURRENT_FIELDS: readonly Field<CurrentPrice>[] = [
  ...PRICE_FIELDS,
  { name: 'source', heading: 'SOURCE', value: ({ set }) => (set === undefined ? 'own' : 'set') },
  { name: 'effective_from', heading: 'FROM', value: ({ set }) => toInstant(set?.effectiveFromMs ?? null) },
];

const HISTORY_FIELDS: readonly Field<DatedPrice>[] = [
  ...PRICE_FIELDS,
  { name: 'effective_from', heading: 'FROM', value: ({ effectiveFromMs }) => toInstant(effectiveFromMs) },
  { name: 'created_at', heading: 'SET AT', value: ({ createdAtMs }) => toInstant(createdAtMs) },
  { name: 'created_by', heading: 'BY', value: ({ createdBy }) => createdBy },
];

export const pricesListCommand: Command = {
  name: 'prices list',
  group: 'money',
  summary: 'List what models cost now',
  usage: '[--history] [--json | --csv]',
  options: {
    history: { type: 'boolean', help: 'Every price that was set: past, present and to come' },
    json: JSON_OPTION,
    csv: CSV_OPTION,
  },
  notes: "Dollars per 1,000,000 tokens. Source: set by an administrator, or the model's own.",
  examples: [
    { text: 'What holds now', command: 'umpire prices list' },
    { text: 'What was set, for a spreadsheet', command: 'umpire prices list --history --csv' },
  ],
  json: shapeOf([...CURRENT_FIELDS, ...HISTORY_FIELDS]),
  async run(given, program) {
    refusePositionals(given);
    if (given.options['history'] === true) {
      const rows = await program.withServices(given.settings, ({ prices }) => prices.list());
      writeRows(program, given, { rows, fields: HISTORY_FIELDS, none: 'No prices were set: every model has its own.' });
    } else {
      const rows = await listCurrent(given, program);
      writeRows(program, given, { rows, fields: CURRENT_FIELDS, none: 'There are no models.' });
    }
    return 0;
  },
};

export const pricesSetCommand: Command = {
  name: 'prices set',
  group: 'money',
  summary: 'Set the price of a model, from now or a date on',
  usage: '<model> --input … --output … [--cached …] [--from …] [--json]',
  options: {
    input: { type: 'string', help: 'Dollars per 1,000,000 input tokens', example: '0.0378' },
    cached: { type: 'string', help: 'Of input that an upstream had cached; as input if left out', example: '0.01' },
    output: { type: 'string', help: 'Dollars per 1,000,000 output tokens, reasoning included', example: '0' },
    from: { type: 'string', help: 'When it takes effect, in UTC; now if left out', example: '2027-01-31' },
    json: JSON_OPTION,
  },
  operands: 'model',
  notes: 'A price is never changed, only followed by a later one. What was accepted before keeps its price.',
  examples: [
    { text: 'From now on', command: 'umpire prices set kev --input 0.0378 --output 0' },
    { text: 'From a day on', command: 'umpire prices set kev --input 0.05 --output 0 --from 2027-01-31' },
  ],
  json: { ...shapeOf(HISTORY_FIELDS), isList: false },
  async run(given, program) {
    const wanted = readPrice(given);
    const set = await program.withServices(given.settings, ({ prices }) => prices.set(wanted, COMMAND_LINE));
    const told = `Set the price of ${set.modelId} from ${toInstant(set.effectiveFromMs)} on.\n`;
    program.writeOut(given.options['json'] ? renderJson(toObject(set, HISTORY_FIELDS)) : told);
    return 0;
  },
};

/** Of the configured models, and of others that were given a price. */
async function listCurrent({ settings }: CommandArguments, program: Program): Promise<readonly CurrentPrice[]> {
  const models = await program.listModels(settings);
  const own = new Map(models.map((model) => [model.id, model]));
  return await program.withServices(settings, async ({ prices }) => {
    const priced = (await prices.list()).map(({ modelId }) => modelId);
    return [...new Set([...own.keys(), ...priced])].flatMap((modelId) => {
      const set = prices.findCurrent(modelId);
      const model = own.get(modelId);
      // A learned model costs what its base costs.
      const ofBase = model?.base === undefined ? undefined : prices.findCurrent(model.base);
      const price = set?.price ?? ofBase?.price ?? model?.price;
      return price === undefined ? [] : [{ modelId, price, set }];
    });
  });
}

/** @throws UsageError */
function readPrice({ options, positionals }: CommandArguments): NewPrice {
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
