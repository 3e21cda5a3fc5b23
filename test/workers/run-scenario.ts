// Runs a scenario in a process of its own, so that its exit code can be asserted: a fault in a worker may end everything.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface ScenarioResult {
  readonly exitCode: number | null;
  /** What the scenario printed, parsed. */
  readonly output: unknown;
  readonly stderr: string;
}

const LIMIT_MS = 250_000;

export function runScenario(name: string, environment: Readonly<Record<string, string>> = {}): Promise<ScenarioResult> {
  const file = fileURLToPath(new URL(`./scenarios/${name}.ts`, import.meta.url));
  const env = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...environment };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [file], { env, timeout: LIMIT_MS }, (_error, stdout, stderr) => {
      resolve({ exitCode: child.exitCode, output: stdout === '' ? undefined : JSON.parse(stdout), stderr });
    });
  });
}
