// Replies packed for clients that say they can unpack them. Never streams: an event is to arrive when it is sent, and a
// report grows while it is read.

import { Stream } from 'node:stream';
import compress, { type FastifyCompressOptions } from '@fastify/compress';
import type { FastifyInstance } from 'fastify';

/** Below it the head outweighs what is saved: most decisions. */
const THRESHOLD_BYTES = 2048;
/** Vectors are noise to a packer: a quarter is saved of base64, at the cost of cores that run models. */
const EMBEDDINGS_THRESHOLD_BYTES = 256 * 1024;
/** Packed at once on this thread, in well under a millisecond; more goes to threads of their own. */
const SYNC_BYTES = 16 * 1024;
/** What a client may ask for by itself; with it the packer leaves the reply alone. */
const NO_COMPRESSION = 'x-no-compression';

const OPTIONS: FastifyCompressOptions = {
  threshold: THRESHOLD_BYTES,
  syncThreshold: SYNC_BYTES,
  // Of those that the client likes alike the first is taken.
  encodings: ['zstd', 'br', 'gzip', 'deflate'],
  zlibOptions: { level: 4 },
};

/** Of the route of embeddings. */
export const EMBEDDINGS_COMPRESSION = { ...OPTIONS, threshold: EMBEDDINGS_THRESHOLD_BYTES };

/** Call it before routes are added. Bodies of requests are body-intake.ts's. */
export async function compressReplies(app: FastifyInstance): Promise<void> {
  // Before the packer's own hook, which every route has. Streams of events are written past both.
  app.addHook('onSend', (request, _reply, payload, done) => {
    if (payload instanceof Stream) request.headers[NO_COMPRESSION] = 'a stream';
    done(null, payload);
  });
  await app.register(compress, { ...OPTIONS, global: true, globalDecompression: false });
}
