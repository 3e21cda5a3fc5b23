// Whether a local model is loaded, on the wire.

import { z } from 'zod';
import type { ServerStatus } from '../../services/server-status.ts';

export const modelStatusSchema = z
  .object({
    id: z.string().describe('Of the model.'),
    state: z
      .enum(['not_loaded', 'loading', 'loaded', 'failed'])
      .describe(
        '`failed`: it could not be loaded when it was asked for, and a later request tries again; or it is a learned model that cannot be served.',
      ),
    reason: z.string().optional().describe('Why a learned model cannot be served; absent: nothing to say.'),
  })
  .meta({ id: 'ModelStatus', description: 'Whether a local model is in memory.' });

type EngineModel = ServerStatus['engine']['models'][number];

export function toWireModelStatus({ id, state, reason }: EngineModel): z.output<typeof modelStatusSchema> {
  return { id, state, ...(reason === undefined ? {} : { reason }) };
}
