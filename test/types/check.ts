// `npm run types`: what the compiler has against the project, and every promise that nobody waits for. One reading of all
// files serves both.

import { dirname, relative, resolve } from 'node:path';
import ts from 'typescript';
import { findFloatingPromises } from './floating-promises.ts';

const [given = 'tsconfig.json'] = process.argv.slice(2);
const file = resolve(given);
const root = dirname(file);
const host: ts.FormatDiagnosticsHost = {
  getCanonicalFileName: (name) => name,
  getCurrentDirectory: () => process.cwd(),
  getNewLine: () => '\n',
};

const { config, error } = ts.readConfigFile(file, ts.sys.readFile);
const { fileNames, options, errors } = ts.parseJsonConfigFileContent(config, ts.sys, root);
const program = ts.createProgram(fileNames, options);
const diagnostics = [...(error ? [error] : []), ...errors, ...ts.getPreEmitDiagnostics(program)];
const ours = new Set(fileNames);
const floating = findFloatingPromises(program, (name) => ours.has(name));

process.stdout.write(ts.formatDiagnostics(diagnostics, host));
for (const { file: name, line, text } of floating)
  process.stdout.write(
    `${relative(process.cwd(), name)}:${line} - a promise that nobody waits for (await, .catch, or void): ${text}\n`,
  );
process.exitCode = diagnostics.length + floating.length > 0 ? 1 : 0;
