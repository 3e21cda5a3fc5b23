// A batch of the size that people run, killed twice.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, it } from 'vitest';
import { proveTwiceKilledBatch, writeShortRows } from '../process/batch-rows.ts';
import { PATIENT } from '../process/decisions.ts';
import { ServerProcess } from '../process/server-process.ts';

const ROWS = 2000;
const folder = mkdtempSync(join(tmpdir(), 'umpire-long-batch-'));
const server = new ServerProcess(PATIENT);

afterAll(async () => {
  await server.dispose();
  rmSync(folder, { recursive: true });
});

it('a batch of 2,000 rows that is killed twice ends complete, with every row once, billed once', async () => {
  writeShortRows(folder, ROWS);
  const env = { UMPIRE_URL: await server.ready(), UMPIRE_API_KEY: server.initialKey() };
  await proveTwiceKilledBatch(server, { cwd: folder, env }, ROWS);
});
