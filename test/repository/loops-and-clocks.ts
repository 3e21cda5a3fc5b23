// Reads a test's code for what makes it depend on the machine: loops that wait for ever, the real clock in what is
// expected, ports that are looked up before they are bound, and pauses.

import ts from 'typescript';

export interface Fault {
  readonly line: number;
  readonly rule: 'unbounded poll' | 'real clock' | 'port before it is bound' | 'pause' | 'environment';
}

/** What a person who runs the tests may have set to anything, or not at all. */
const PERSONAL = /^(SHELL|HOME|TERM|LANG|LC_\w+|TZ|CI|USER|LOGNAME|COLUMNS|EDITOR)$/;

export function findFaults(text: string): Fault[] {
  const source = ts.createSourceFile('test.ts', text, ts.ScriptTarget.Latest, true);
  const faults: Fault[] = [];
  const visit = (node: ts.Node): void => {
    const rule = ruleOf(node);
    if (rule !== undefined) faults.push({ line: source.getLineAndCharacterOfPosition(node.getStart()).line + 1, rule });
    ts.forEachChild(node, visit);
  };
  visit(source);
  return faults;
}

function ruleOf(node: ts.Node): Fault['rule'] | undefined {
  if (isEndless(node)) return 'unbounded poll';
  if (isClockInExpectation(node)) return 'real clock';
  if (ts.isIdentifier(node) && /^(find)?freeport$/i.test(node.text)) return 'port before it is bound';
  if (isPause(node)) return 'pause';
  if (isPersonal(node)) return 'environment';
  return undefined;
}

/** A loop that asks until it is so: its condition waits, it has none and its body waits, or its body is a wait alone. */
function isEndless(node: ts.Node): boolean {
  if (ts.isForStatement(node)) return node.condition === undefined && holdsAwait(node.statement);
  if (!ts.isWhileStatement(node) && !ts.isDoStatement(node)) return false;
  const { expression, statement } = node;
  if (expression.kind === ts.SyntaxKind.TrueKeyword) return holdsAwait(statement);
  const [only, ...others] = ts.isBlock(statement) ? statement.statements : [statement];
  const isWaitAlone = others.length === 0 && only !== undefined && ts.isExpressionStatement(only) && isTurn(only);
  return holdsAwait(expression) || isWaitAlone;
}

const isTurn = (node: ts.Node): boolean =>
  holdsAwait(node) && /\b(setImmediate|setTimeout|nextTurn|turns?|pause|sleep)\b/.test(node.getText());

/** Not in functions of its own. */
function holdsAwait(node: ts.Node): boolean {
  if (ts.isAwaitExpression(node)) return true;
  if (ts.isFunctionLike(node)) return false;
  return ts.forEachChild(node, holdsAwait) ?? false;
}

/** `expect(performance.now() - startMs)`, `expect(Date.now())`: how fast the machine is, or what time it is there. */
function isClockInExpectation(node: ts.Node): boolean {
  if (!ts.isCallExpression(node) || !ts.isIdentifier(node.expression) || node.expression.text !== 'expect')
    return false;
  return /\b(performance|Date)\.now\(\)|\bhrtime\b/.test(node.arguments.map((argument) => argument.getText()).join());
}

/** Time that passes for nobody: `setTimeout(resolve, 700)` and the like. */
function isPause(node: ts.Node): boolean {
  if (!ts.isAwaitExpression(node)) return false;
  const text = node.expression.getText();
  return (
    /^new Promise\S*\((async )?\(?(resolve|done)\)? => setTimeout\((resolve|done), /.test(text) ||
    /^(sleep|wait|pause|delay)\(\d/.test(text)
  );
}

function isPersonal(node: ts.Node): boolean {
  if (!ts.isPropertyAccessExpression(node) && !ts.isElementAccessExpression(node)) return false;
  if (node.expression.getText() !== 'process.env') return false;
  const name = ts.isPropertyAccessExpression(node) ? node.name.text : node.argumentExpression.getText().slice(1, -1);
  return PERSONAL.test(name);
}
