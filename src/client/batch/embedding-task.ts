// Embeddings over rows: several rows are the inputs of one request. Pure.

import { parsePlainJson } from '../../domain/json.ts';
import type { BatchTask } from './batch-task.ts';

/** How a vector is written. */
export type VectorForm = 'float' | 'base64';

export interface EmbeddingAsking {
  readonly model: string;
  /** undefined: the model's own. */
  readonly dimensions: number | undefined;
  readonly truncate: boolean;
}

/** Enough that the way there and back costs little, few enough that the server can share its time. */
const INPUTS_AT_ONCE = 32;

interface EmbeddingItem {
  readonly index: number;
  /** As base64, whatever is written: a fifth of the bytes. */
  readonly embedding: string;
  readonly truncated?: boolean;
}

export function embeddingTask(asking: EmbeddingAsking, form: VectorForm): BatchTask {
  return {
    path: '/ai/v1/embeddings',
    atOnce: INPUTS_AT_ONCE,
    headings: ['embedding'],
    writeRequest: (rows) =>
      writeEmbeddingRequest(
        asking,
        rows.map(({ text }) => text),
      ),
    readReply({ body }, rows) {
      const { data } = parsePlainJson(body) as { data: readonly EmbeddingItem[] };
      return rows.map((_, place) => {
        const item = data[place];
        if (item?.index !== place) throw new Error('The reply lacks an embedding.');
        const vector = writeVectorAs(item.embedding, form);
        const cut = item.truncated ? ',"truncated":true' : '';
        const cell = form === 'base64' ? item.embedding : vector;
        return { members: `"embedding":${vector}${cut}`, cells: [cell] };
      });
    },
  };
}

export function writeEmbeddingRequest(
  { model, dimensions, truncate }: EmbeddingAsking,
  input: readonly string[],
): string {
  return JSON.stringify({ model, input, encoding_format: 'base64', dimensions, ...(truncate ? { truncate } : {}) });
}

/** @param base64 little-endian float32. @returns JSON text */
export function writeVectorAs(base64: string, form: VectorForm): string {
  if (form === 'base64') return JSON.stringify(base64);
  const bytes = Buffer.from(base64, 'base64');
  return JSON.stringify(Array.from({ length: bytes.length / 4 }, (_, place) => bytes.readFloatLE(place * 4)));
}
