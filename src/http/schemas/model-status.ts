// Whether a local model is loaded, on the wire.

import { z } from 'zod';

export const modelStatusSchema = z
  .object({
    id: z.string().describe('Of the model.'),
    state: z
      .enum(['not_loaded', 'loading', 'loaded', 'failed'])
      .describe('`failed`: it could not be loaded when it was asked for; a later request tries again.'),
  })
  .meta({ id: 'ModelStatus', description: 'Whether a local model is in memory.' });
