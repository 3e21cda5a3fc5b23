// docs/config.md, rendered from the schema: what it says and what the server takes cannot differ.

import { z } from 'zod';
import { HUB_VARIABLES } from './hub-settings.ts';
import { INDEX_VARIABLES } from './index-settings.ts';
import { configSchema } from './schema.ts';
import { noteOf, SETTINGS, type Setting, unwrap } from './settings.ts';

const INTRODUCTION = `# Configuration

Generated from \`src/config/schema.ts\` and its neighbours by \`npm run docs\`; do not edit.

Every setting has a default. A later source overrides an earlier one: defaults, then the YAML file that \`--config\` or
\`UMPIRE_CONFIG\` names, then the environment, then flags. An empty variable or value counts as unset. Lists are written with
commas in the environment and on the command line, booleans as \`true\` or \`false\` in the environment and as \`--name\` or
\`--no-name\` on the command line. Unknown settings are refused, and all faults are told at once.
\`npm start -- --print-config\` shows every value and where it comes from.

A running server that gets \`SIGHUP\`, or is told to by \`umpire reload\`, reads all of it again and takes over the settings that say so here ("Reloaded"); those of the others that have changed are named in
its log, and wait for a restart. Its environment stays what it was. A configuration with a fault changes nothing.

\`UMPIRE_URL\` is no setting of the server: it is the address that \`umpire decide\` asks, with the key in \`UMPIRE_API_KEY\`.
`;

const HUB_NOTE = `Commands that pull models read the variables of Hugging Face's own tools; a server never asks a hub. A private certificate
authority is Node's to know, by \`NODE_EXTRA_CA_CERTS\`.`;

const INDEX_NOTE = `\`umpire gpu install\` reads pip's variables, and the proxies above; a server never asks an index.`;

const EXAMPLE = `## Example

\`\`\`yaml
host: 0.0.0.0
port: 8080
engine:
  device: cpu
http:
  gracePeriodMs: 30000
aliases:
  jev-latest: kev
models:
  - kev
  - folder: text-embed-mini
    load: first-use
upstreams:
  - name: local-llm
    baseUrl: http://127.0.0.1:8000/v1
    apiKeyEnv: LOCAL_LLM_KEY
    models:
      - id: qwen
        upstreamModel: Qwen/Qwen3-8B
        inputMicroUsdPerMillionTokens: 100000
        outputMicroUsdPerMillionTokens: 400000
        reasoning:
          usage: auto
\`\`\`
`;

/** The whole page. */
export function renderConfigPage(): string {
  const sections = [...new Set(SETTINGS.map(sectionOf))].map(renderSection);
  const { models, upstreams } = configSchema.shape;
  const entries = [renderEntries('models', models), renderEntries('upstreams', upstreams)];
  return [INTRODUCTION, ...sections, ...entries, ...renderForeignVariables(), EXAMPLE].join('\n');
}

function sectionOf({ path }: Setting): string {
  return path.length === 1 ? '' : (path[0] ?? '');
}

function renderSection(section: string): string {
  const rows = SETTINGS.filter((setting) => sectionOf(setting) === section).map(
    ({ name, env, flag, note, schema }) =>
      `| \`${name}\` | \`${env}\`${note.secret ? '' : `<br>\`--${flag}\``} | ${typeOf(schema)} | ${defaultOf(schema, name)} | ${helpOf(schema, name)} |`,
  );
  const title = section === '' ? 'General' : `\`${section}\``;
  return [
    `## ${title}`,
    '',
    '| setting | environment, flag | type | default | |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

/** They are none of the server's: it asks neither a hub nor an index. */
function renderForeignVariables(): string[] {
  return [
    renderVariables('Variables of the hub', HUB_NOTE, HUB_VARIABLES),
    renderVariables('Variables of the package index', INDEX_NOTE, INDEX_VARIABLES),
  ];
}

function renderVariables(title: string, about: string, variables: Readonly<Record<string, string>>): string {
  const rows = Object.entries(variables).map(([name, help]) => `| \`${name}\` | ${help} |`);
  return [`## ${title}`, '', about, '', '| variable | |', '|---|---|', ...rows, ''].join('\n');
}

function renderEntries(name: string, schema: z.ZodType): string {
  return [
    `## Entries of \`${name}\``,
    '',
    '| field | type | default | |',
    '|---|---|---|---|',
    ...fieldRows(elementOf(schema), ''),
    '',
  ].join('\n');
}

function fieldRows(object: z.ZodObject, prefix: string): string[] {
  return Object.entries(object.shape).flatMap(([key, value]) => {
    const schema = value as z.ZodType;
    const name = `${prefix}${key}`;
    const row = `| \`${name}\` | ${typeOf(schema)} | ${defaultOf(schema, name)} | ${helpOf(schema, name)} |`;
    const inner = unwrap(schema);
    if (inner instanceof z.ZodObject) return [row, ...fieldRows(inner, `${name}.`)];
    if (inner instanceof z.ZodArray && unwrap(inner.element as z.ZodType) instanceof z.ZodObject) {
      return [row, ...fieldRows(elementOf(schema), `${name}[].`)];
    }
    return [row];
  });
}

/** @throws Error when the schema is no list of objects */
function elementOf(schema: z.ZodType): z.ZodObject {
  const list = unwrap(schema);
  const entry = list instanceof z.ZodArray ? unwrap(list.element as z.ZodType) : undefined;
  const kinds = entry instanceof z.ZodUnion ? (entry.options as z.ZodType[]) : [entry];
  const element = kinds.find((kind) => kind instanceof z.ZodObject);
  if (element instanceof z.ZodObject) return element;
  throw new Error('Not a list of objects.');
}

function typeOf(schema: z.ZodType): string {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodEnum) return inner.options.map((option) => `\`${option}\``).join(', ');
  if (inner instanceof z.ZodNumber) return `${inner.minValue} to ${inner.maxValue}`;
  if (inner instanceof z.ZodBoolean) return 'boolean';
  if (inner instanceof z.ZodArray) return typeOfList(unwrap(inner.element as z.ZodType));
  return inner instanceof z.ZodObject || inner instanceof z.ZodRecord ? 'object' : 'text';
}

function typeOfList(element: z.ZodType): string {
  if (element instanceof z.ZodUnion) return 'list of names or objects';
  return element instanceof z.ZodObject ? 'list of objects' : 'list';
}

function defaultOf(schema: z.ZodType, name: string): string {
  const { defaultText } = noteOf(schema, name);
  if (defaultText !== undefined) return defaultText;
  if (!(schema instanceof z.ZodDefault)) return schema instanceof z.ZodOptional ? '–' : 'required';
  const value = schema.def.defaultValue;
  if (Array.isArray(value) || (typeof value === 'object' && value !== null)) return 'none';
  return value === '' ? 'empty' : `\`${String(value)}\``;
}

function helpOf(schema: z.ZodType, name: string): string {
  const { help, unit, reloads } = noteOf(schema, name);
  const told = [help, ...(unit === undefined ? [] : [`In ${unit}.`]), ...(reloads ? ['Reloaded.'] : [])];
  return told.join(' ').replaceAll('|', '\\|');
}
