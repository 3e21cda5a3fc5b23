// What the names of a source tree say: every declaration at the top of a file, and the faults of a vocabulary in which one
// word is to have one meaning, and one thing one name. Each fault names both places.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

export interface Declaration {
  readonly name: string;
  readonly kind: 'type' | 'function' | 'constant';
  readonly isExported: boolean;
  /** `src/domain/json.ts:12` */
  readonly place: string;
  /** What it is made of, without its own names: equal for two that are one thing. undefined: too little to tell. */
  readonly substance: string | undefined;
}

export interface SourceFile {
  readonly path: string;
  readonly tree: ts.SourceFile;
}

/** Shorter functions are alike by chance: `value === null ? null : f(value)`. */
const LEAST_FUNCTION_CHARACTERS = 55;
const LEAST_MEMBERS = 2;

/** @param folder below the root, such as `src`. Tests are left out */
export function readSources(root: string, folder: string): SourceFile[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .sort()
    .map((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      return { path, tree: ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true) };
    });
}

export function declarationsOf(sources: readonly SourceFile[]): Declaration[] {
  return sources.flatMap(({ path, tree }) => {
    const found = tree.statements.flatMap((statement) => readDeclarations(statement, path));
    // The signatures of one function are one declaration.
    return found.filter(({ name }, index) => index === found.findLastIndex((other) => other.name === name));
  });
}

function readDeclarations(statement: ts.Statement, path: string): Declaration[] {
  const isExported = hasModifier(statement, ts.SyntaxKind.ExportKeyword);
  const declare = (node: ts.Node, name: string, kind: Declaration['kind'], substance?: string): Declaration => {
    const line = node.getSourceFile().getLineAndCharacterOfPosition(node.getStart()).line + 1;
    return { name, kind, isExported, place: `${path}:${line}`, substance };
  };
  if (ts.isInterfaceDeclaration(statement))
    return [declare(statement, statement.name.text, 'type', substanceOfMembers(statement.members, statement))];
  if (ts.isTypeAliasDeclaration(statement)) {
    const { type } = statement;
    const substance = ts.isTypeLiteralNode(type) ? substanceOfMembers(type.members) : undefined;
    return [declare(statement, statement.name.text, 'type', substance)];
  }
  if (ts.isClassDeclaration(statement) && statement.name) return [declare(statement, statement.name.text, 'type')];
  if (ts.isFunctionDeclaration(statement) && statement.name)
    return [declare(statement, statement.name.text, 'function', substanceOfFunction(statement))];
  if (!ts.isVariableStatement(statement)) return [];
  return statement.declarationList.declarations
    .filter(({ name }) => ts.isIdentifier(name))
    .map((one) => declare(one, one.name.getText(), 'constant'));
}

function hasModifier(node: ts.Node, kind: ts.SyntaxKind): boolean {
  return ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some((modifier) => modifier.kind === kind);
}

function substanceOfMembers(members: ts.NodeArray<ts.TypeElement>, node?: ts.InterfaceDeclaration): string | undefined {
  if (members.length < LEAST_MEMBERS || node?.heritageClauses !== undefined) return undefined;
  return members
    .map((member) => textOf(member))
    .sort()
    .join(' ');
}

/** Its body, with its parameters by number. */
function substanceOfFunction({ body, parameters }: ts.FunctionDeclaration): string | undefined {
  if (body === undefined) return undefined;
  const names = parameters.map(({ name }) => name.getText());
  const text = names.reduce(
    (all, name, index) => all.replace(new RegExp(`\\b${name}\\b`, 'g'), `$${index}`),
    textOf(body),
  );
  return text.length < LEAST_FUNCTION_CHARACTERS ? undefined : text;
}

/** On one line, without comments. */
function textOf(node: ts.Node): string {
  return node
    .getText()
    .replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** One word with two meanings: a type or an export that is declared twice, a function with the name of an exported one. */
export function findWordsWithTwoMeanings(declarations: readonly Declaration[]): string[] {
  return [...Map.groupBy(declarations, ({ name }) => name)].flatMap(([name, same]) => {
    const types = same.filter(({ kind }) => kind === 'type');
    const exported = same.filter(({ isExported }) => isExported);
    const functions = same.filter(({ kind }) => kind === 'function');
    const clashing = [types, exported, exported.length > 0 ? [...new Set([...exported, ...functions])] : []];
    const worst = clashing.toSorted((a, b) => b.length - a.length)[0] ?? [];
    return worst.length < 2 ? [] : [`${name} is declared ${worst.length} times: ${placesOf(worst)}`];
  });
}

/** Two names for one thing: types with the same members, functions with the same body. */
export function findThingsWithTwoNames(declarations: readonly Declaration[]): string[] {
  const alike = Map.groupBy(
    declarations.filter(({ substance }) => substance !== undefined),
    ({ kind, substance }) => `${kind} ${substance}`,
  );
  return [...alike.values()]
    .filter(({ length }) => length > 1)
    .map((same) => `${same.map(({ name }) => name).join(' and ')} are one ${same[0]?.kind}: ${placesOf(same)}`);
}

function placesOf(declarations: readonly Declaration[]): string {
  return declarations.map(({ place }) => place).join(', ');
}

/** A type that is another one by a second name, and exports of what another file of ours declares. */
export function findSecondNames(sources: readonly SourceFile[]): string[] {
  return sources.flatMap(({ path, tree }) =>
    tree.statements.flatMap((statement) => {
      const place = `${path}:${tree.getLineAndCharacterOfPosition(statement.getStart()).line + 1}`;
      if (ts.isTypeAliasDeclaration(statement) && isPlainName(statement.type))
        return [`${statement.name.text} is a second name of ${statement.type.getText()}: ${place}`];
      if (!ts.isExportDeclaration(statement)) return [];
      const from = statement.moduleSpecifier;
      const isOurs = from === undefined || (ts.isStringLiteral(from) && from.text.startsWith('.'));
      return isOurs ? [`${textOf(statement)} hands on what another file declares: ${place}`] : [];
    }),
  );
}

function isPlainName(type: ts.TypeNode): boolean {
  return ts.isTypeReferenceNode(type) && type.typeArguments === undefined;
}

/**
 * Members that are private by a keyword, which counts for the compiler alone; `#name` counts always. A constructor has no
 * other way, nor has what a subclass may use.
 */
export function findPrivateKeywords(sources: readonly SourceFile[]): string[] {
  const keywords = [ts.SyntaxKind.PrivateKeyword, ts.SyntaxKind.PublicKeyword];
  return sources.flatMap(({ path, tree }) => {
    const found: string[] = [];
    const visit = (node: ts.Node): void => {
      if (!ts.isConstructorDeclaration(node) && keywords.some((kind) => hasModifier(node, kind))) {
        const line = tree.getLineAndCharacterOfPosition(node.getStart()).line + 1;
        found.push(`${path}:${line}: ${node.getText().split('\n')[0]}`);
      }
      ts.forEachChild(node, visit);
    };
    visit(tree);
    return found;
  });
}

export interface GlossaryRow {
  readonly word: string;
  /** Of types that carry the word. */
  readonly names: readonly string[];
}

/** @param text of ARCHITECTURE.md */
export function readGlossary(text: string): GlossaryRow[] {
  const [, chapter = ''] = text.split('\n## Glossary\n');
  const rows = (chapter.split('\n## ')[0] ?? '').matchAll(/^\| \*\*(.+?)\*\* \| .* \| (.*)\|$/gm);
  return [...rows].map(([, word = '', names = '']) => ({
    word,
    names: [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
  }));
}

/**
 * Words that stand in no row or in two, and names that nothing has.
 * @param concepts what must be named
 * @param all whatever may be named
 */
export function findGlossaryFaults(
  rows: readonly GlossaryRow[],
  concepts: readonly Declaration[],
  all: readonly Declaration[],
): string[] {
  const rowsOf = (name: string): string[] => rows.filter(({ names }) => names.includes(name)).map(({ word }) => word);
  const missing = concepts.filter(({ name }) => rowsOf(name).length === 0);
  const twice = concepts.filter(({ name }) => rowsOf(name).length > 1);
  const known = new Set(all.map(({ name }) => name));
  return [
    ...missing.map(({ name, place }) => `${name} (${place}) stands in no row of the glossary`),
    ...twice.map(({ name, place }) => `${name} (${place}) stands in several rows: ${rowsOf(name).join(', ')}`),
    ...rows.flatMap(({ word, names }) =>
      names.filter((name) => !known.has(name)).map((name) => `the row of "${word}" names ${name}, which nothing has`),
    ),
  ];
}
