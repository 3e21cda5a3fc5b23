// One folder of logs for the whole run, scanned when it has ended: a secret or a caller's text in any log fails the run.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { readCollected } from './collected-logs.ts';
import { findLeaks } from './find-leaks.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    logFolder: string;
  }
}

const MAX_SHOWN = 20;

export default function collectLogs({ provide }: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'umpire-test-logs-'));
  provide('logFolder', folder);
  return () => {
    const { logs, traces } = readCollected(folder);
    rmSync(folder, { recursive: true });
    const leaks = findLeaks(logs, traces);
    const bytes = [...logs.values()].reduce((sum, log) => sum + log.length, 0);
    const scanned = `${logs.size} logs of ${bytes} characters, for ${traces.secrets.size} secrets and ${traces.texts.size} texts`;
    process.stdout.write(`Log scan: ${scanned}: ${leaks.length === 0 ? 'none found' : 'FOUND'}.\n`);
    if (leaks.length > 0) throw new Error(`Secrets or texts in logs:\n${leaks.slice(0, MAX_SHOWN).join('\n')}`);
  };
}
