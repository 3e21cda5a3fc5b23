// Finds promises that nobody waits for, by their types: a statement that is a promise, or a list of them, and neither hears
// its failure nor is let go with `void`. biome's rule of the same kind does not know the types of Node and of packages.

import ts from 'typescript';

export interface FloatingPromise {
  readonly file: string;
  readonly line: number;
  /** What is written there, on one line. */
  readonly text: string;
}

/** @param isOurs whether a file is looked at, by its path */
export function findFloatingPromises(program: ts.Program, isOurs: (file: string) => boolean): FloatingPromise[] {
  const types = program.getTypeChecker();
  const found: FloatingPromise[] = [];
  for (const source of program.getSourceFiles().filter(({ fileName }) => isOurs(fileName))) {
    const visit = (node: ts.Node): void => {
      if (ts.isExpressionStatement(node) && floats(node.expression, types)) {
        const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
        found.push({ file: source.fileName, line, text: node.getText().replace(/\s+/g, ' ') });
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return found;
}

function floats(expression: ts.Expression, types: ts.TypeChecker): boolean {
  if (ts.isAwaitExpression(expression) || ts.isVoidExpression(expression) || isAssignment(expression)) return false;
  return !hearsFailure(expression) && holdsPromise(types.getTypeAtLocation(expression), types);
}

function isAssignment(expression: ts.Expression): boolean {
  if (!ts.isBinaryExpression(expression)) return false;
  const { kind } = expression.operatorToken;
  return kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;
}

/** `p.catch(f)`, `p.then(f, g)`, and a `finally` behind either. */
function hearsFailure(expression: ts.Expression): boolean {
  if (!ts.isCallExpression(expression) || !ts.isPropertyAccessExpression(expression.expression)) return false;
  const { name, expression: before } = expression.expression;
  if (name.text === 'catch') return expression.arguments.length > 0;
  if (name.text === 'then') return expression.arguments.length > 1;
  return name.text === 'finally' && hearsFailure(before);
}

/** One, or a list of them. */
function holdsPromise(type: ts.Type, types: ts.TypeChecker): boolean {
  return partsOf(type).some((part) => {
    const members = types.isArrayType(part)
      ? types.getTypeArguments(part as ts.TypeReference).flatMap(partsOf)
      : [part];
    return members.some((member) => isPromise(member, types));
  });
}

function partsOf(type: ts.Type): readonly ts.Type[] {
  return type.isUnion() ? type.types : [type];
}

/** A reply of the web framework has a `then` and is no promise: it has no `catch`. */
function isPromise(type: ts.Type, types: ts.TypeChecker): boolean {
  return ['then', 'catch'].every((name) => types.getPropertyOfType(type, name) !== undefined);
}
