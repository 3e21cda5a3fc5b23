// Where a setting comes from, what is refused, and what is shown of it.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderConfigPage } from './document.ts';
import {
  ConfigError,
  type ConfigSources,
  type Environment,
  loadConfig,
  readClientSettings,
  readHubSettings,
} from './load.ts';
import { printConfig } from './print.ts';
import { SETTINGS } from './settings.ts';

const KEY = 'a-key-that-nobody-may-see';
const folder = mkdtempSync(join(tmpdir(), 'umpire-config-'));

beforeAll(() => mkdirSync(join(folder, 'etc')));
afterAll(() => rmSync(folder, { recursive: true }));

function load(sources: Partial<ConfigSources> & { readonly yaml?: string } = {}) {
  const { yaml, ...rest } = sources;
  const env: Record<string, string | undefined> = { ...rest.env };
  if (yaml !== undefined) {
    env['UMPIRE_CONFIG'] = 'etc/umpire.yaml';
    writeFileSync(join(folder, 'etc', 'umpire.yaml'), yaml);
  }
  return loadConfig({ flags: {}, workingDir: folder, ...rest, env });
}

function faultsOf(sources: Parameters<typeof load>[0]): readonly string[] {
  try {
    load(sources);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  throw new Error('Nothing was refused.');
}

describe('without any source', () => {
  it('every setting has its default', () => {
    const { config, origins } = load();
    expect(config).toMatchObject({ host: '127.0.0.1', port: 8080, dataDir: join(folder, 'data'), upstreams: [] });
    expect(config.http.bodyLimitBytes).toBe(8 * 1024 * 1024);
    expect(new Set(origins.values())).toEqual(new Set(['default']));
    expect(origins.size).toBe(SETTINGS.length);
  });

  it('models lie beside the code', () => {
    expect(load().config.modelsDir).toBe(join(import.meta.dirname, '..', '..', 'models'));
  });
});

describe('models', () => {
  const later = [{ folder: 'b', load: 'first-use' }];

  it('are names with commas or JSON in the environment, and both in the file', () => {
    expect(load({ env: { UMPIRE_MODELS: 'a, b' } }).config.models).toEqual(['a', 'b']);
    expect(load({ env: { UMPIRE_MODELS: '["a", {"folder": "b", "load": "first-use"}]' } }).config.models).toEqual([
      'a',
      ...later,
    ]);
    expect(load({ yaml: 'models:\n  - a\n  - {folder: b, load: first-use}\n' }).config.models).toEqual(['a', ...later]);
  });

  it('are loaded at the start unless the entry says otherwise', () => {
    expect(load({ yaml: 'models: [{folder: a}]' }).config.models).toEqual([{ folder: 'a', load: 'start' }]);
  });

  it.each([
    'models: [{folder: a, load: never}]',
    'models: [{folder: a, when: start}]',
    'models: [{load: start}]',
    'models: [7]',
  ])('are refused as %s', (yaml) => expect(() => load({ yaml })).toThrow(/models/));
});

describe('precedence', () => {
  const yaml = 'port: 1001\nhost: file.example\nengine:\n  workers: 3\n  queueMaxJobs: 7\n';
  const env = { UMPIRE_PORT: '1002', UMPIRE_ENGINE_WORKERS: '4' };
  const flags = { port: '1003' };

  it('is defaults, file, environment, flags', () => {
    const { config, origins } = load({ yaml, env, flags });
    expect(config).toMatchObject({ port: 1003, host: 'file.example', engine: { workers: 4, queueMaxJobs: 7 } });
    expect(origins.get('port')).toBe('flag --port');
    expect(origins.get('engine.workers')).toBe('environment UMPIRE_ENGINE_WORKERS');
    expect(origins.get('host')).toBe(`file ${join(folder, 'etc', 'umpire.yaml')}`);
    expect(origins.get('engine.device')).toBe('default');
  });

  it('passes over what is empty', () => {
    const { config } = load({
      yaml: 'port: 1001\nhost:\nlog:\n  level: ""\n',
      env: { UMPIRE_PORT: '' },
      flags: { port: '' },
    });
    expect(config).toMatchObject({ port: 1001, host: '127.0.0.1', log: { level: 'info' } });
  });

  it('takes the file of --config before that of the environment', () => {
    writeFileSync(join(folder, 'other.yaml'), 'port: 1005');
    expect(load({ yaml, flags: { config: 'other.yaml' } }).config.port).toBe(1005);
  });
});

describe('text from the environment', () => {
  it.each([
    ['true', true],
    ['yes', true],
    ['1', true],
    ['false', false],
    ['off', false],
    ['0', false],
  ])('"%s" is the boolean %s', (text, expected) => {
    expect(load({ env: { UMPIRE_HTTP_METRICS_REQUIRE_KEY: text } }).config.http.metricsRequireKey).toBe(expected);
  });

  it('with commas is a list', () => {
    expect(load({ env: { UMPIRE_MODELS: 'kev, text-embed-mini' } }).config.models).toEqual(['kev', 'text-embed-mini']);
  });

  it('as JSON is a map of aliases, as in the file', () => {
    const aliases = { 'jev-latest': 'kev' };
    expect(load({ env: { UMPIRE_ALIASES: JSON.stringify(aliases) } }).config.aliases).toEqual(aliases);
    expect(load({ yaml: 'aliases:\n  jev-latest: kev\n' }).config.aliases).toEqual(aliases);
    expect(() => load({ env: { UMPIRE_ALIASES: 'jev-latest=kev' } })).toThrow(/aliases/i);
  });

  it('as JSON is a list of upstreams', () => {
    const upstreams = '[{"name":"a","baseUrl":"http://a.example/v1","models":[{"id":"m"}]}]';
    expect(load({ env: { UMPIRE_UPSTREAMS: upstreams } }).config.upstreams[0]).toMatchObject({
      name: 'a',
      models: [{ id: 'm' }],
    });
  });

  it.each(['eighty', '8080x', '0x50', '1e3', ' ', '80.5', '-1', '65536', 'NaN'])('"%s" is no port', (port) => {
    expect(faultsOf({ env: { UMPIRE_PORT: port } })).toEqual([
      expect.stringContaining('port (environment UMPIRE_PORT): '),
    ]);
  });
});

describe('relative paths', () => {
  it('start from the folder of the file that names them, otherwise from the working directory', () => {
    expect(load({ yaml: 'dataDir: ../store' }).config.dataDir).toBe(join(folder, 'store'));
    expect(load({ yaml: 'dataDir: ../store', env: { UMPIRE_DATA_DIR: 'here' } }).config.dataDir).toBe(
      join(folder, 'here'),
    );
  });
});

describe('faults', () => {
  it('are all told at once, with their origin', () => {
    const faults = faultsOf({
      yaml: 'prot: 1\nhttp:\n  timeout: 5\nengine: fast\nupstreams:\n  - name: a\n    apiKeyEnv: NOT_SET\n',
      env: { UMPIRE_LOG_LEVEL: 'loud', UMPIRE_DATADIR: 'x' },
      flags: { port: '99999' },
    });
    for (const told of [
      'port (flag --port): Too big',
      'log.level (environment UMPIRE_LOG_LEVEL): ',
      'prot in the file: no such setting.',
      'http.timeout in the file: no such setting.',
      'engine: ',
      'upstreams.0.baseUrl (file ',
      'upstreams.0.models (file ',
      'upstreams.0.apiKeyEnv (upstream "a"): the environment variable NOT_SET is not set.',
      'UMPIRE_DATADIR in the environment: no such setting.',
    ]) {
      expect(faults).toContainEqual(expect.stringContaining(told));
    }
    expect(faults).toHaveLength(9);
  });

  it.each([
    ['a missing file', { flags: { config: 'nowhere.yaml' } }, 'nowhere.yaml cannot be read: ENOENT'],
    ['a file that is no YAML', { yaml: 'apiKey: [' }, 'is not valid YAML'],
    ['a key given twice', { yaml: 'port: 1\nport: 2' }, 'is not valid YAML: Map keys must be unique at line 2'],
    ['a file that is a list', { yaml: '- port' }, 'must hold settings by name'],
    ['a short key', { env: { UMPIRE_API_KEY: 'short' } }, 'must be 16 to 200 visible ASCII characters'],
    ['a key with a space', { env: { UMPIRE_API_KEY: 'sixteen letters ok' } }, 'visible ASCII'],
    [
      'times that cannot both hold',
      { env: { UMPIRE_HTTP_REQUEST_TIMEOUT_MS: '5' } },
      'must not be shorter than http.headersTimeoutMs',
    ],
  ] as const)('include %s', (_name, sources, told) => {
    expect(faultsOf(sources)).toContainEqual(expect.stringContaining(told));
  });

  it('tell what to do about the variables that Kubernetes sets', () => {
    const env = { UMPIRE_PORT: 'tcp://10.0.0.1:8080', UMPIRE_SERVICE_HOST: '10.0.0.1', UMPIRE_PORT_8080_TCP: 'x' };
    const faults = faultsOf({ env });
    expect(faults).toHaveLength(3);
    expect(faults.filter((fault) => fault.includes('enableServiceLinks: false'))).toHaveLength(2);
  });

  it('never quote a value: it may be a secret', () => {
    const yaml = `apiKey: "${KEY} "\nupstreams:\n  - baseUrl: http://me:${KEY}@a.example/v1\n    name: a\n    models: [{id: m}]\n`;
    expect(faultsOf({ yaml, env: { UMPIRE_PORT: KEY } }).join('\n')).not.toContain(KEY);
    expect(faultsOf({ yaml: `apiKey: "${KEY}\n` }).join('\n')).not.toContain(KEY);
  });

  it('do not quote what may be a key in the place of its variable', () => {
    const yaml =
      'upstreams:\n  - { name: a, baseUrl: "http://a.example/v1", apiKeyEnv: gsk_0aB1cD2e, models: [{ id: m }] }\n';
    expect(faultsOf({ yaml })).toEqual([
      'upstreams.0.apiKeyEnv (upstream "a"): the environment variable it names is not set.',
    ]);
  });

  it('say what an entry of the models is', () => {
    expect(faultsOf({ yaml: 'models:\n  - kev\n  - { path: other }\n' })).toEqual([
      expect.stringContaining('must be the name or path of a model folder, or an object of `folder` and `load`'),
    ]);
  });

  it('include two upstreams with one name, and two models of one upstream with one id', () => {
    const entry = '{ name: a, baseUrl: "http://a.example/v1", models: [{ id: m }] }';
    expect(faultsOf({ yaml: `upstreams:\n  - ${entry}\n  - ${entry}\n` })).toEqual([
      'upstreams: two have the name "a".',
    ]);
    const twins = '{ name: a, baseUrl: "http://a.example/v1", models: [{ id: m }, { id: m }] }';
    expect(faultsOf({ yaml: `upstreams:\n  - ${twins}\n` })).toEqual([
      'upstreams: two models of the upstream "a" have the id "m".',
    ]);
  });

  it.each([
    ['a weight here and none there', 'weight: 2', '', 'has a weight at some upstreams'],
    ['two prices', 'inputMicroUsdPerMillionTokens: 2', 'inputMicroUsdPerMillionTokens: 3', 'has two prices'],
    ['a price that the first upstream does not have', '', 'outputMicroUsdPerMillionTokens: 3', 'has two prices'],
  ])('include a model at two upstreams with %s', (_what, first, second, fault) => {
    const entry = (name: string, more: string) =>
      `  - { name: ${name}, baseUrl: "http://a.example/v1", models: [{ id: m${more === '' ? '' : `, ${more}`} }] }\n`;
    expect(faultsOf({ yaml: `upstreams:\n${entry('a', first)}${entry('b', second)}` })).toEqual([
      expect.stringContaining(fault),
    ]);
  });

  it('are none where a model is at two upstreams, its price at the first or the same at both', () => {
    const entry = (name: string, more: string) =>
      `  - { name: ${name}, baseUrl: "http://a.example/v1", models: [{ id: m${more} }] }\n`;
    const price = ', inputMicroUsdPerMillionTokens: 2';
    expect(() => load({ yaml: `upstreams:\n${entry('a', price)}${entry('b', '')}${entry('c', price)}` })).not.toThrow();
  });
});

describe('keys of upstreams', () => {
  const yaml =
    'upstreams:\n  - { name: a, baseUrl: "http://a.example/v1", apiKeyEnv: UMPIRE_A_KEY, models: [{ id: m }] }\n';

  it('are read from the variable that the configuration names', () => {
    const loaded = load({ yaml, env: { UMPIRE_A_KEY: KEY } });
    expect(loaded.upstreamApiKeys.get('a')).toBe(KEY);
    expect(JSON.stringify(loaded.config)).not.toContain(KEY);
  });
});

describe('the printed configuration', () => {
  it('shows every value and its origin, secrets masked', () => {
    const yaml = 'upstreams:\n  - { name: a, baseUrl: "http://a.example/v1?key=hidden", models: [{ id: m }] }\n';
    const printed = printConfig(load({ yaml, env: { UMPIRE_API_KEY: KEY }, flags: { port: '9' } }));
    expect(printed).toMatch(/^port = 9 +\(flag --port\)$/m);
    expect(printed).toMatch(/^apiKey = \*+ +\(environment UMPIRE_API_KEY\)$/m);
    expect(printed).not.toContain(KEY);
    expect(printed).not.toContain('hidden');
    for (const { name } of SETTINGS) expect(printed).toContain(`${name} = `);
  });
});

describe('names', () => {
  it('follow from the path, and no two are alike', () => {
    expect(SETTINGS.find(({ name }) => name === 'engine.queueMaxJobs')).toMatchObject({
      env: 'UMPIRE_ENGINE_QUEUE_MAX_JOBS',
      flag: 'engine-queue-max-jobs',
    });
    expect(new Set(SETTINGS.map(({ env }) => env)).size).toBe(SETTINGS.length);
  });

  it('are all on the page', () => {
    const page = renderConfigPage();
    for (const { name, env } of SETTINGS) expect(page).toContain(`| \`${name}\` | \`${env}\``);
  });
});

describe('the example on the page', () => {
  it('is a configuration that is accepted', () => {
    const [, example = ''] = /^```yaml\n(.*?)^```$/ms.exec(renderConfigPage()) ?? [];
    const { config } = load({ yaml: example, env: { LOCAL_LLM_KEY: 'x' } });
    expect(config).toMatchObject({
      host: '0.0.0.0',
      upstreams: [{ models: [{ id: 'qwen', reasoning: { usage: 'auto' } }] }],
    });
  });
});

describe('settings of the client', () => {
  it.each([
    [{}, { url: undefined, apiKey: undefined }],
    [
      { UMPIRE_URL: '', UMPIRE_API_KEY: '' },
      { url: undefined, apiKey: undefined },
    ],
    [
      { UMPIRE_URL: 'http://a', UMPIRE_API_KEY: 'k' },
      { url: 'http://a', apiKey: 'k' },
    ],
  ] satisfies [Environment, object][])('of %o are %o', (env, expected) => {
    expect(readClientSettings(env)).toEqual(expected);
  });
});

describe('settings of the hub', () => {
  it('are read from its own variables, and told together where they have faults', () => {
    const env = { HF_ENDPOINT: 'https://mirror.example', HF_HOME: '/nowhere' };
    expect(readHubSettings(env).endpoint).toBe('https://mirror.example');
    const faulty = { ...env, HF_HUB_ETAG_TIMEOUT: 'x', HF_HUB_DOWNLOAD_TIMEOUT: 'y' };
    expect(() => readHubSettings(faulty)).toThrow(ConfigError);
    expect(() => readHubSettings(faulty)).toThrow('The configuration has 2 faults:');
  });
});
