// peers.json: what models/training/umpire_training/learn_peers.py measured on the draws of the bench.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const drawSchema = z.object({
  task: z.string(),
  rowsPerOption: z.int(),
  seed: z.int(),
  accuracy: z.number(),
  nll: z.number(),
  ece: z.number(),
});
const peerSchema = z.object({ name: z.string(), version: z.string(), draws: z.array(drawSchema) });
const fileSchema = z.object({ format: z.literal(1), peers: z.array(peerSchema) });

export type LearningPeer = z.infer<typeof peerSchema>;

/** @returns none where the script has not run */
export function readPeers(folder: string): LearningPeer[] {
  const file = join(folder, 'peers.json');
  return existsSync(file) ? fileSchema.parse(JSON.parse(readFileSync(file, 'utf8'))).peers : [];
}
