// Whole pulls from a folder of this machine: what comes of a good repository, and why each bad one does not come in.

import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createModelSources } from '../../../src/app/pull/pulled-models.ts';
import type { PullNews, PullRequest } from '../../../src/cli/model-sources.ts';
import { loadConfig, readHubSettings } from '../../../src/config/load.ts';
import { writeTemperatures } from '../../../src/runtime/model-folder/calibrated-folder.ts';
import { readModelFolder } from '../../../src/runtime/model-folder/model-folder.ts';
import { layLearned, readTinyBase } from '../learned/learned-draft.ts';
import { FLOAT16, FLOAT32, INT64, type WrittenGraph } from './onnx-writer.ts';
import {
  classifierGraph,
  embedderGraph,
  json,
  type RepositoryContent,
  ROW_INPUTS,
  SCRAMBLED,
  TABLE,
  TINY_EMBEDDER,
  TINY_ENTAILMENT,
  TINY_RERANKER,
  writeRepository,
} from './tiny-repository.ts';

const root = mkdtempSync(join(tmpdir(), 'umpire-pull-'));
const modelsDir = join(root, 'shipped');
mkdirSync(modelsDir);
let folders = 0;

afterAll(() => rmSync(root, { recursive: true, force: true }));

function exportOf(content: RepositoryContent): string {
  folders += 1;
  const folder = join(root, `export-${folders}`);
  writeRepository(folder, content);
  return folder;
}

const GIGABYTE = 1e9;

function sources(rowBytes = GIGABYTE) {
  const dataDir = join(root, `data-${folders}`);
  const variables = { UMPIRE_DATA_DIR: dataDir, UMPIRE_MODELS_DIR: modelsDir, UMPIRE_ENGINE_WORKERS: '1' };
  const { config } = loadConfig({ flags: {}, env: variables });
  const now = new Date('2026-12-24T12:00:00Z');
  return { models: createModelSources({ config, hub: readHubSettings({}), now, rowBytes }), dataDir };
}

type Wish = Partial<Omit<PullRequest, 'source'>>;
const request = (source: string, wish: Wish = {}): PullRequest => ({
  source,
  choices: {},
  isFromCache: false,
  acceptsLicence: false,
  isAnew: false,
  id: 'tiny',
  ...wish,
});

async function pull(content: RepositoryContent, wish: Wish = {}, rowBytes = GIGABYTE) {
  const folder = exportOf(content);
  const { models, dataDir } = sources(rowBytes);
  const news: PullNews[] = [];
  const watcher = { signal: new AbortController().signal, tell: (told: PullNews) => news.push(told) };
  const pulled = await models.pull(request(folder, wish), watcher);
  const warningsSoFar = () => news.flatMap((told) => (told.kind === 'warning' ? [told.text] : []));
  const warnings = warningsSoFar();
  return {
    pulled,
    warnings,
    warningsSoFar,
    models,
    dataDir,
    folder,
    again: () => models.pull(request(folder, wish), watcher),
  };
}

const STATEMENT: Wish = { choices: { hypothesis: 'This text is about {option}.' } };
const withGraph = (graph: Buffer, name = 'onnx/model.onnx'): RepositoryContent => ({
  ...Object.fromEntries(Object.entries(TINY_EMBEDDER).filter(([path]) => !path.endsWith('.onnx'))),
  [name]: graph,
});
const changed = (changes: Partial<WrittenGraph>): RepositoryContent => withGraph(embedderGraph({}, changes));

describe('a pull of an embedder', () => {
  it('leaves a folder that says where everything comes from, and nothing else', async () => {
    const { pulled, warnings, dataDir, folder } = await pull(TINY_EMBEDDER);
    expect(pulled.outcome).toBe('pulled');
    expect(warnings).toEqual([]);
    expect(readdirSync(join(dataDir, 'models')).sort()).toEqual(['.locks', 'tiny']);
    expect(readdirSync(pulled.model.folder).sort()).toEqual([
      'SHA256SUMS',
      'golden.json',
      'model.json',
      'model.onnx',
      'model_quantized.onnx',
      'tokenizer.json',
      'tokenizer_config.json',
    ]);
    const { manifest } = await readModelFolder(pulled.model.folder);
    expect(manifest).toMatchObject({
      id: 'tiny',
      type: 'embedding',
      licence: 'Apache-2.0',
      release_date: '2026-12-24',
      dimensions: 8,
      pooling: 'mean',
      prompts: { query: 'query: ', document: '' },
      limits: { input_tokens: 600 },
      graphs: { fp32: { embed: 'model.onnx' }, int8: { embed: 'model_quantized.onnx' } },
      probe: { date: '2026-12-24', stated_tokens: 600, agreement: { int8: { rows: 29 } } },
    });
    expect(manifest.recipe).toContainEqual({ what: 'taken from', value: folder, from: 'command line' });
    expect(manifest.recipe).toContainEqual({
      what: 'pooling',
      value: 'mean',
      from: '1_Pooling/config.json: pooling_mode_mean_tokens',
    });
  });

  it('keeps full precision where the quantized graph is another model', async () => {
    const scrambled = { ...TINY_EMBEDDER, 'onnx/model_quantized.onnx': embedderGraph({ table: SCRAMBLED }) };
    const { pulled, warnings } = await pull(scrambled);
    expect(pulled.model.precisions).toEqual(['fp32']);
    expect(warnings).toEqual([expect.stringContaining('The int8 graph is refused: it is not the same model')]);
    expect(readdirSync(pulled.model.folder)).not.toContain('model_quantized.onnx');
  });

  it('takes the quantized graph alone where that is wanted, compared all the same', async () => {
    const { pulled } = await pull(TINY_EMBEDDER, { choices: { precisions: ['int8'] } });
    expect(pulled.model.precisions).toEqual(['int8']);
    expect(pulled.model.probe?.agreement['int8']).toContain('of fp32, 29 answers');
    expect(readdirSync(pulled.model.folder)).not.toContain('model.onnx');
  });

  it('warns where a quantized graph cannot be compared', async () => {
    const { pulled, warnings } = await pull(withGraph(embedderGraph(), 'onnx/model_quantized.onnx'));
    expect(warnings).toEqual([expect.stringContaining('its quality is unchecked')]);
    expect(pulled.model.probe?.agreement).toEqual({ int8: 'unchecked: there was no fp32 graph' });
  });

  it('reads rows as long as a worker has the memory for, and says so', async () => {
    const config = json({ architectures: ['BertModel'], model_type: 'bert', max_position_embeddings: 200_000 });
    const long = { ...TINY_EMBEDDER, 'config.json': config, 'tokenizer_config.json': json({}) };
    const { pulled, warnings } = await pull(long, {}, 16e6);
    const { limits, probe } = pulled.model;
    expect(limits['input_tokens']).toBeLessThan(200_000);
    expect(limits['input_tokens']).toBeGreaterThanOrEqual(512);
    expect(probe?.statedTokens).toBe(200_000);
    expect(warnings).toEqual([expect.stringMatching(/^Rows have \d+ tokens at most here, of 200000/)]);
  });
});

describe('a pull of a classifier', () => {
  it('leaves a decision model that says that nobody has calibrated it', async () => {
    const { pulled } = await pull(TINY_ENTAILMENT, STATEMENT);
    expect(pulled.model).toMatchObject({ type: 'decision', family: 'pair-scorer', isCalibrated: false });
    expect(Object.keys(pulled.model.probe?.agreement ?? {})).toEqual(['int8']);
    expect((await readModelFolder(pulled.model.folder)).manifest).toMatchObject({
      labels: { count: 3, entailment: 2, contradiction: 0 },
      hypothesis: 'This text is about {option}.',
    });
  });

  it('keeps full precision where the quantized graph answers otherwise', async () => {
    const scrambled = { ...TINY_ENTAILMENT, 'onnx/model_quantized.onnx': classifierGraph(3, { table: SCRAMBLED }) };
    const { pulled, warnings } = await pull(scrambled, STATEMENT);
    expect(pulled.model.precisions).toEqual(['fp32']);
    expect(warnings[0]).toContain('it is not the same model');
  });

  it('says what is lost with the model that it takes the place of', async () => {
    const { pulled, again, dataDir, warningsSoFar } = await pull(TINY_ENTAILMENT, STATEMENT);
    await again();
    expect(warningsSoFar()).toEqual([]);
    const folder = await readTinyBase(pulled.model.folder);
    await layLearned(dataDir, { base: folder });
    await writeTemperatures(folder, { ...folder.manifest.temperatures, noul: { 2: 2 } });
    await again();
    expect(warningsSoFar()).toEqual([
      'tiny as it was is calibrated, and what takes its place is not: umpire calibrate FILE --model tiny',
      'learned on tiny as it was, and not served beside another: support',
    ]);
  });

  it('leaves a reranker with the weights that lie beside its graph', async () => {
    const { pulled } = await pull(TINY_RERANKER);
    expect(pulled.model).toMatchObject({ type: 'reranker', precisions: ['fp32'] });
    expect(readdirSync(pulled.model.folder)).toContain('model.onnx_data');
  });
});

describe('a bad repository is refused, and leaves no model', () => {
  const noNumbers = Float32Array.from(TABLE, () => Number.NaN);
  const row = (changes: Partial<(typeof ROW_INPUTS)[number]>) => [
    { name: 'input_ids', type: INT64, shape: ['b', 's'], ...changes },
  ];
  const { 'onnx/model.onnx_data': _, ...withoutWeights } = TINY_RERANKER;

  const cases: readonly (readonly [string, RepositoryContent, RegExp])[] = [
    [
      'answers that are no numbers',
      withGraph(embedderGraph({ table: noNumbers })),
      /No graph can be used.*(NaN|finite|number)/s,
    ],
    [
      'a graph that is cut',
      withGraph(embedderGraph().subarray(0, 500)),
      /onnx\/model.onnx: the graph cannot be opened: it is no graph, or cut/,
    ],
    ['a graph of a later library', changed({ opset: 99 }), /needs a newer runtime library/],
    [
      'an operation that nobody knows',
      changed({ nodes: [{ type: 'Wonder', inputs: ['input_ids'], outputs: ['last_hidden_state'] }] }),
      /an operation that this runtime library does not know/,
    ],
    ['weights that are missing', withoutWeights, /a file of weights beside it is missing or cut/],
    ['a length that is baked in', changed({ inputs: row({ shape: [1, 512] }) }), /exported for 512 tokens alone/],
    [
      'ids of 16 bits',
      changed({ inputs: [...ROW_INPUTS, { name: 'past_key_values.0.key', type: FLOAT16, shape: ['b', 1, 'p', 4] }] }),
      /past_key_values.0.key as float16/,
    ],
    [
      'an input that nobody can give',
      changed({ inputs: [...ROW_INPUTS, { name: 'language', type: INT64, shape: ['b'] }] }),
      /wants an input language/,
    ],
    [
      'vectors of another shape',
      changed({ outputs: [{ name: 'last_hidden_state', type: FLOAT32, shape: ['b', 's', 4, 2] }] }),
      /neither sentence_embedding nor/,
    ],
    ['a tokenizer that is none', { ...TINY_EMBEDDER, 'tokenizer.json': '{"a": 1}' }, /holds no tokenizer/],
    ['no statement', TINY_ENTAILMENT, /--template/],
  ];

  it.each(cases)('%s', async (__, content, message) => {
    await expect(pull(content)).rejects.toThrow(message);
    expect(existsSync(join(root, `data-${folders}`, 'models', 'tiny'))).toBe(false);
  });

  it('but weights behind a link are copied', async () => {
    const folder = exportOf(withoutWeights);
    writeFileSync(join(root, 'elsewhere'), Buffer.from(TABLE.buffer));
    symlinkSync(join(root, 'elsewhere'), join(folder, 'onnx', 'model.onnx_data'));
    const watcher = { signal: new AbortController().signal, tell: () => undefined };
    // Where it leads is the exporter's own affair: what comes here is a file, and works when the link is gone.
    const { model } = await sources().models.pull(request(folder), watcher);
    expect(lstatSync(join(model.folder, 'model.onnx_data')).isFile()).toBe(true);
  });

  it('a licence with conditions that nobody has accepted', async () => {
    const content = { ...TINY_RERANKER, 'README.md': '---\nlicense: cc-by-nc-4.0\n---\n' };
    await expect(pull(content)).rejects.toThrow('CC-BY-NC-4.0) must be accepted: it forbids commercial use');
    const { pulled } = await pull(content, { acceptsLicence: true });
    expect(pulled.model).toMatchObject({ licence: 'CC-BY-NC-4.0', licenceAccepted: '2026-12-24' });
  });

  it('an id of a model that is shipped, and one that no model may have', async () => {
    mkdirSync(join(modelsDir, 'kev'), { recursive: true });
    writeFileSync(join(modelsDir, 'kev', 'model.json'), '{}');
    await expect(pull(TINY_RERANKER, { id: 'kev' })).rejects.toThrow('another id with --id');
    await expect(pull(TINY_RERANKER, { id: '../kev' })).rejects.toThrow('cannot be the id of a model');
    rmSync(join(modelsDir, 'kev'), { recursive: true });
  });
});

describe('a pulled model', () => {
  it('is shown, is replaced by a second pull, and is removed', async () => {
    const { pulled, models, dataDir, again, folder } = await pull(TINY_RERANKER);
    const signal = new AbortController().signal;
    expect(await models.inspect(request('tiny'), signal)).toEqual(pulled.model);
    expect((await again()).outcome).toBe('replaced');
    const found = await models.findPulled('tiny');
    expect([found.bytes > 3000, found.learnedOn]).toEqual([true, []]);
    await models.remove('tiny');
    expect(readdirSync(join(dataDir, 'models'))).toEqual(['.locks']);
    await expect(models.remove('tiny')).rejects.toThrow('There is no pulled or learned model "tiny"');
    await expect(models.remove('../tiny')).rejects.toThrow('There is no pulled or learned model');
    // What a pull would do is told without doing it.
    const plan = await models.inspect(request(folder), signal);
    expect(plan).toMatchObject({ id: 'tiny', licence: 'Apache-2.0', files: { length: 4 } });
    expect(readdirSync(join(dataDir, 'models'))).toEqual(['.locks']);
  });

  it('stays as it was where the next one is refused or stopped', async () => {
    const { pulled, models, folder, again } = await pull(TINY_RERANKER);
    const before = readFileSync(join(pulled.model.folder, 'SHA256SUMS'), 'utf8');
    writeRepository(folder, { 'onnx/model.onnx': classifierGraph(1).subarray(0, 200) });
    await expect(again()).rejects.toThrow('cannot be opened');
    const stop = new AbortController();
    const tell = ({ kind }: PullNews) => (kind === 'step' ? stop.abort(new Error('enough')) : undefined);
    await expect(models.pull(request(folder), { signal: stop.signal, tell })).rejects.toThrow('enough');
    expect(readFileSync(join(pulled.model.folder, 'SHA256SUMS'), 'utf8')).toBe(before);
    expect((await readModelFolder(pulled.model.folder)).digest).toBe(pulled.model.digest);
  });

  it('is back where its replacement was cut off between two names', async () => {
    const { pulled, again, dataDir } = await pull(TINY_RERANKER);
    renameSync(pulled.model.folder, join(dataDir, 'models', '.former-tiny'));
    expect((await again()).outcome).toBe('replaced');
    expect(readdirSync(join(dataDir, 'models')).sort()).toEqual(['.locks', 'tiny']);
  });
});
