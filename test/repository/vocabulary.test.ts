// One word for one concept: names of the source are unique, nothing has two names, the glossary of ARCHITECTURE.md is
// complete, and members are private in one way. Each rule is shown to catch its violation.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Declaration,
  declarationsOf,
  findGlossaryFaults,
  findPrivateKeywords,
  findSecondNames,
  findThingsWithTwoNames,
  findWordsWithTwoMeanings,
  readGlossary,
  readSources,
  type SourceFile,
} from './vocabulary.ts';

const ROOT = resolve(import.meta.dirname, '..', '..');

/** Whose exported types the glossary names: the domain, and the interfaces between rooms. */
const CONCEPTS = /^src[/](domain[/].+|engine[/]engine|storage[/]stores|upstream[/]chat-upstream)[.]ts:/;

/** Twins that must stay: rooms that share the domain alone, which does no input or output. */
const TWINS = ['syncPath and syncToDisk'];

const sources = readSources(ROOT, 'src');
const declarations = declarationsOf(sources);
const isConcept = ({ kind, isExported, place }: Declaration): boolean =>
  kind === 'type' && isExported && CONCEPTS.test(place);

describe('in src/', () => {
  it('all files are read', () => {
    expect(sources.length).toBeGreaterThan(300);
    expect(declarations.length).toBeGreaterThan(2000);
  });

  it('no word has two meanings', () => {
    expect(findWordsWithTwoMeanings(declarations)).toEqual([]);
  });

  it('nothing has two names', () => {
    const found = findThingsWithTwoNames(declarations);
    expect(found.filter((fault) => !TWINS.some((twins) => fault.startsWith(twins)))).toEqual([]);
    expect(found).toHaveLength(TWINS.length);
  });

  it('no type is a second name, and no file hands on what another declares', () => {
    expect(findSecondNames(sources)).toEqual([]);
  });

  it('members are private by # and not by a keyword', () => {
    expect(findPrivateKeywords(sources)).toEqual([]);
  });
});

describe('the glossary', () => {
  const rows = readGlossary(readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8'));

  it('names every type of the domain and of the interfaces between rooms once, and nothing else', () => {
    expect(findGlossaryFaults(rows, declarations.filter(isConcept), declarations)).toEqual([]);
  });

  it('has each word once', () => {
    const words = rows.map(({ word }) => word);
    expect(words.length).toBeGreaterThan(30);
    expect(words.filter((word, index) => words.indexOf(word) !== index)).toEqual([]);
  });
});

describe('a planted fault', () => {
  const folder = mkdtempSync(join(tmpdir(), 'umpire-vocabulary-'));
  let planted: SourceFile[];

  const FILES: Readonly<Record<string, string>> = {
    'src/domain/ledger.ts': "export type RefusalReason = 'budget' | 'tokens';\n",
    'src/engine/engine.ts':
      "import type { Job } from './job.ts';\nexport type RefusalReason = 'jobs' | 'wait';\nexport type { Job } from './job.ts';\n",
    'src/engine/job.ts': 'export interface Job {\n  readonly id: string;\n  readonly costMs: number;\n}\n',
    'src/http/errors.ts':
      'export function toAppError(error: unknown): Error {\n  return new Error(String(error));\n}\n',
    'src/http/validate.ts': "function toAppError(): Error {\n  return new Error('validate');\n}\ntoAppError();\n",
    'src/runtime/sum.ts':
      'function sum(values: readonly number[]): number {\n  return values.reduce((total, value) => total + value, 0);\n}\nsum([]);\n',
    'src/runtime/total.ts':
      'function addUp(all: readonly number[]): number {\n  // The same.\n  return all.reduce((total, value) => total + value, 0);\n}\naddUp([]);\n',
    'src/services/work.ts':
      '/** The same members, in another order. */\nexport interface Work {\n  readonly costMs: number;\n  readonly id: string;\n}\n',
    'src/services/requester.ts':
      "import type { Work } from './work.ts';\nexport type Asked = Work;\nexport class Asker {\n  private constructor() {}\n  private readonly work: Asked | undefined;\n}\n",
  };

  beforeAll(() => {
    for (const [file, text] of Object.entries(FILES)) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), text);
    }
    planted = readSources(folder, 'src');
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  it('is told with both places: one name for two things', () => {
    expect(findWordsWithTwoMeanings(declarationsOf(planted))).toEqual([
      'RefusalReason is declared 2 times: src/domain/ledger.ts:1, src/engine/engine.ts:2',
      'toAppError is declared 2 times: src/http/errors.ts:1, src/http/validate.ts:1',
    ]);
  });

  it('is told with both places: two names for one thing', () => {
    expect(findThingsWithTwoNames(declarationsOf(planted))).toEqual([
      'Job and Work are one type: src/engine/job.ts:1, src/services/work.ts:2',
      'sum and addUp are one function: src/runtime/sum.ts:1, src/runtime/total.ts:1',
    ]);
  });

  it('is told: a second name, and an export of what another file declares', () => {
    expect(findSecondNames(planted)).toEqual([
      "export type { Job } from './job.ts'; hands on what another file declares: src/engine/engine.ts:3",
      'Asked is a second name of Work: src/services/requester.ts:2',
    ]);
  });

  it('is told: a member that is private by a keyword', () => {
    expect(findPrivateKeywords(planted)).toEqual([
      'src/services/requester.ts:5: private readonly work: Asked | undefined;',
    ]);
  });

  it('is told: a type that the glossary forgot, names twice, or that is gone', () => {
    const rows = readGlossary(
      '# A\n## Glossary\n| **job** | work | `Job`, `Task` |\n| **work** | work | `Job` |\n## Next\n| **no** | row | `Work` |\n',
    );
    const all = declarationsOf(planted);
    const concepts = all.filter(({ name }) => name === 'Job' || name === 'Work');
    expect(findGlossaryFaults(rows, concepts, all)).toEqual([
      'Work (src/services/work.ts:2) stands in no row of the glossary',
      'Job (src/engine/job.ts:1) stands in several rows: job, work',
      'the row of "job" names Task, which nothing has',
    ]);
  });
});
