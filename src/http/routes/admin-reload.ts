// POST /admin/v1/reload: the server that answers reads its configuration again.

import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { ReloadService } from '../../services/reload.ts';
import { keyOf } from '../authenticate.ts';
import { operation } from '../operation.ts';

const settings = (what: string) => z.array(z.string()).describe(`Names of settings ${what}.`);

const reloadSchema = z
  .object({
    object: z.literal('reload').describe('What this is.'),
    changed: settings('that were taken over'),
    waiting_for_restart: settings('that have changed since the start and count from the next one on'),
  })
  .meta({ id: 'Reload', description: 'What a server took over of its configuration.' });

const schema = operation(
  {
    operationId: 'reloadConfiguration',
    summary: 'Read the configuration again',
    description: [
      'The same as the signal SIGHUP, of the server that answers: file, and environment as it was at the start. Requests under',
      'way keep what they began with. A configuration with a fault changes nothing, and the message says what is wrong.',
    ].join(' '),
    tag: 'Administration',
    errors: ['reload_failed'],
  },
  { response: { 200: reloadSchema } },
);

export async function adminReloadRoute(api: FastifyInstance, reloads: ReloadService): Promise<void> {
  api.post('/reload', { schema }, async (request) => {
    const { changed, waiting } = await reloads.reload(keyOf(request).id);
    return { object: 'reload', changed, waiting_for_restart: waiting };
  });
}
