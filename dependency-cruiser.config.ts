// The layer rules of ARCHITECTURE.md as data. test/repository/architecture.test.ts runs them; nothing else reads this file.

import type { IConfiguration, IForbiddenRuleType } from 'dependency-cruiser';

/** Folder of `src/` → the regular expressions of what else in `src/` its files may import. */
const ALLOWED_IMPORTS: Readonly<Record<string, readonly string[]>> = {
  config: ['domain/'],
  domain: [],
  runtime: ['domain/'],
  storage: ['domain/'],
  upstream: ['domain/'],
  observability: ['domain/'],
  engine: ['runtime/', 'learning/', 'domain/'],
  services: [
    'engine/engine[.]ts$',
    'storage/stores[.]ts$',
    'upstream/chat-upstream[.]ts$',
    'quality/(labelled-row|wire-question)[.]ts$',
    'domain/',
  ],
  http: ['services/', 'domain/'],
  quality: ['domain/'],
  learning: ['quality/', 'domain/'],
  client: ['domain/'],
  hub: ['domain/'],
  recipe: [
    'runtime/model-folder/manifest[.]ts$',
    'runtime/graph-signature[.]ts$',
    'runtime/families/marker-encoder/laya-config[.]ts$',
    'domain/',
  ],
  cli: ['services/', 'quality/', 'learning/', 'client/', 'hub/', 'recipe/', 'domain/'],
  web: ['domain/(json|usage)[.]ts$'],
};

export const LAYERS = Object.keys(ALLOWED_IMPORTS);

/** Room inside a layer → its doors: the files that others may import; who builds the rooms goes in wherever it must. */
const DOORS: Readonly<Record<string, readonly string[]>> = {
  'engine/scheduling': ['scheduler', 'queued-ticket', 'batching'],
  'engine/cost': ['token-counting', 'cost-model', 'token-ratio', 'work-size', 'batch-time'],
  'engine/sharing': ['merging-engine'],
  'engine/decision': ['decider'],
  'engine/embedding': ['embedder'],
  'engine/scoring': ['scorer'],
  'engine/learned': ['learned-engine'],
  'engine/loading': ['model-loader', 'cold-ticket', 'memory-plan', 'memory-need'],
  'services/accounting': ['accounting'],
  'services/chat': ['chat'],
  'services/housekeeping': ['housekeeping'],
  'services/inference': ['inference'],
  'services/keys': ['keys'],
  'services/learning': ['learning', 'learning-job'],
  'services/reports': ['reports'],
};

export const ROOMS = Object.keys(DOORS);

/** What lies beside the layers may import anything, and no layer may import it. */
const COMPOSITION_FILES = '^src/app/|^src/main[.]ts$|^src/launch[.]js$';

const layerRules: IForbiddenRuleType[] = Object.entries(ALLOWED_IMPORTS).map(([layer, allowed]) => ({
  name: `layer-${layer}`,
  severity: 'error',
  comment: `src/${layer} may import ${allowed.join(', ') || 'nothing'} of ours besides itself.`,
  from: { path: `^src/${layer}/` },
  to: { path: '^src/', pathNot: [layer, ...allowed].map((name, index) => `^src/${name}${index === 0 ? '/' : ''}`) },
}));

const doorRules: IForbiddenRuleType[] = Object.entries(DOORS).map(([room, doors]) => ({
  name: `door-${room.replace('/', '-')}`,
  severity: 'error',
  comment: `src/${room} is entered by ${doors.join(', ')}.`,
  from: { path: '^src/', pathNot: `^src/${room}/|[.]test[.]ts$|^src/docs/|${COMPOSITION_FILES}` },
  to: { path: `^src/${room}/`, pathNot: `^src/${room}/(${doors.join('|')})[.]ts$` },
}));

function onlyIn(file: string, packageName: string, why: string): IForbiddenRuleType {
  return {
    name: `${packageName}-only-in-${file.replace(/^.*\//, '')}`,
    severity: 'error',
    comment: why,
    from: { path: '^src/', pathNot: `^src/${file}[.]ts$` },
    to: { path: `node_modules/${packageName}` },
  };
}

const importerRules: IForbiddenRuleType[] = [
  onlyIn('runtime/session', 'onnxruntime-node', 'One file knows the session API and its hazards.'),
  onlyIn('runtime/worker-pool', 'piscina', 'The pool must be closed in one place only: with nothing in flight.'),
  {
    name: 'one-composition-root',
    severity: 'error',
    comment:
      'The objects of the program are made by app.ts alone, for the server and for commands; what runs them asks it.',
    from: { path: COMPOSITION_FILES, pathNot: '^src/app/app[.]ts$' },
    to: {
      path: '^src/(services|engine|http/server[.]ts$|storage/open-stores[.]ts$|upstream/http-chat-upstream[.]ts$)',
      dependencyTypesNot: ['type-only'],
    },
  },
  {
    name: 'docs-generator-is-a-leaf',
    severity: 'error',
    comment: 'src/docs writes pages; the server must not need it.',
    from: { pathNot: '^src/docs/|[.]test[.]ts$' },
    to: { path: '^src/docs/' },
  },
  {
    name: 'pages-are-a-leaf',
    severity: 'error',
    comment: 'src/web runs in browsers: the server reads its files and imports none of them.',
    from: { path: '^src/', pathNot: '^src/web/' },
    to: { path: '^src/web/' },
  },
  {
    name: 'pages-without-node',
    severity: 'error',
    comment: 'A browser has no modules of Node.',
    from: { path: '^src/web/', pathNot: '[.]test[.]ts$' },
    to: { dependencyTypes: ['core'] },
  },
  {
    name: 'hub-on-demand',
    severity: 'error',
    comment: 'Only the commands that need a hub load what speaks to one, by import(); a server never does.',
    from: { path: '^src/', pathNot: '^src/hub/|[.]test[.]ts$' },
    to: { path: '^src/hub/', pathNot: '^src/hub/hub-error[.]ts$', dependencyTypesNot: ['type-only', 'dynamic-import'] },
  },
  {
    name: 'telemetry-on-demand',
    severity: 'error',
    comment: 'One room knows OpenTelemetry, and it is loaded by import() where a collector is configured.',
    from: { path: '^src/', pathNot: '^src/observability/telemetry/' },
    to: {
      path: 'node_modules/@opentelemetry/|^src/observability/telemetry/',
      pathNot: '^src/observability/telemetry/telemetry[.]ts$',
      dependencyTypesNot: ['type-only', 'dynamic-import'],
    },
  },
  {
    name: 'server-without-tests-and-bench',
    severity: 'error',
    comment: 'What is shipped must not need what is not. Tests beside the code may use the doubles in test/.',
    from: { path: '^src/', pathNot: '[.]test[.]ts$' },
    to: { path: '^(test|bench)/|[.]test[.]ts$' },
  },
  {
    name: 'server-without-development-packages',
    severity: 'error',
    comment: 'A devDependency is absent after npm ci --omit=dev.',
    from: { path: '^src/', pathNot: '[.]test[.]ts$' },
    to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
  },
  {
    name: 'no-utils',
    severity: 'error',
    comment: 'A file is named for the one thing it holds.',
    from: {},
    to: { path: '(^|/)(utils?|helpers?|common|shared|misc)(/|[.]ts$)', pathNot: 'node_modules' },
  },
  {
    name: 'no-unresolvable',
    severity: 'error',
    comment: 'An import that resolves to nothing would escape every other rule.',
    from: {},
    to: { couldNotResolve: true },
  },
  {
    name: 'no-cycles',
    severity: 'error',
    comment: 'Types count too: a cycle of types is a file that should be two.',
    from: {},
    to: { circular: true },
  },
];

const options: IConfiguration['options'] = {
  doNotFollow: { path: 'node_modules' },
  tsConfig: { fileName: 'tsconfig.json' },
  enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
};

/** Which layers may import which, type imports included. */
export const layerConfiguration: IConfiguration = {
  forbidden: [...layerRules, ...doorRules, ...importerRules],
  options: { ...options, tsPreCompilationDeps: true },
};

/** What can be loaded into which thread: type imports are gone by then, so they do not count here. */
export const threadConfiguration: IConfiguration = {
  forbidden: [
    {
      name: 'main-thread-without-onnxruntime',
      severity: 'error',
      comment: 'session.run() blocks its thread; the worker is loaded by URL, never imported.',
      from: {
        path: `${COMPOSITION_FILES}|^src/(cli|client|hub|http|services|engine|learning|observability|quality|recipe|storage|upstream)/`,
      },
      to: { path: 'node_modules/onnxruntime-node|^src/runtime/worker[.]ts$', reachable: true },
    },
    {
      name: 'server-without-hub',
      severity: 'error',
      comment: 'A server opens no connection to a hub: models are pulled by a command, in a process of its own.',
      from: {
        path: '^src/app/(app|server-run)[.]ts$|^src/(http|services|engine|runtime|storage|upstream|observability)/',
      },
      to: { path: '^src/hub/', pathNot: '^src/hub/hub-error[.]ts$', reachable: true },
    },
    {
      name: 'worker-without-http',
      severity: 'error',
      comment: 'A worker speaks no HTTP and validates no wire bodies; every worker would pay for these modules.',
      from: { path: '^src/runtime/worker[.]ts$' },
      to: { path: 'node_modules/(fastify|@fastify|zod|undici|pino)(/|$)', reachable: true },
    },
  ],
  options: { ...options, tsPreCompilationDeps: false },
};
