// The reply of POST /ai/v1/embeddings. Up to 2,048 vectors are megabytes of text: it is written in pieces, with room
// for other requests in between.

import { z } from 'zod';
import type { Embeddings } from '../../services/inference/inference.ts';

const embedding = z
  .object({
    object: z.literal('embedding').describe('What this is.'),
    index: z.int().min(0).describe('Place of the input in the request, from 0.'),
    embedding: z
      .union([z.array(z.number()), z.string()])
      .describe('Numbers, or base64 of little-endian float32, as `encoding_format` asked.'),
    truncated: z
      .literal(true)
      .optional()
      .describe('There where `truncate` was asked for and the input was cut: its end was not read, nor billed.'),
  })
  .meta({ id: 'Embedding', description: 'The vector of one input.' });

const embeddingUsage = z
  .object({
    prompt_tokens: z.int().min(0).describe('Tokens of all inputs: what is billed.'),
    total_tokens: z.int().min(0).describe('The same: nothing is written.'),
  })
  .meta({ id: 'EmbeddingUsage', description: 'What is billed.' });

export const embeddingReplySchema = z
  .object({
    object: z.literal('list').describe('What this is.'),
    data: z.array(embedding).describe('One for each input, in their order.'),
    model: z.string().describe('Id of the model that answered.'),
    usage: embeddingUsage,
  })
  .meta({ id: 'Embeddings', description: 'One vector for each input, in their order.' });

/** Text written before other work gets its turn: less than 1 ms of numbers. */
const PIECE_CHARACTERS = 65_536;

/** @returns the text of the reply; as bytes where it is long, for to join and to send them costs next to nothing */
export async function writeEmbeddings(written: Embeddings): Promise<string | Buffer> {
  const { model, embeddings, usage } = written;
  const truncated = new Set(written.truncated);
  const pieces: Buffer[] = [];
  let piece = '{"object":"list","data":[';
  for (const [index, embedding] of embeddings.entries()) {
    const cut = truncated.has(index) ? ',"truncated":true' : '';
    piece += `${index === 0 ? '' : ','}{"object":"embedding","index":${index},"embedding":${writeVector(embedding)}${cut}}`;
    if (piece.length < PIECE_CHARACTERS) continue;
    pieces.push(Buffer.from(piece));
    piece = '';
    await nextTurn();
  }
  const tokens = usage.inputTokens;
  const end = `],"model":${JSON.stringify(model.id)},"usage":{"prompt_tokens":${tokens},"total_tokens":${tokens}}}`;
  return pieces.length === 0 ? piece + end : Buffer.concat([...pieces, Buffer.from(piece + end)]);
}

// Base64 has no character that JSON escapes. Through an ordinary array numbers are written three times as fast as by
// the typed array's own join.
function writeVector(embedding: Float32Array | string): string {
  return typeof embedding === 'string' ? `"${embedding}"` : JSON.stringify(Array.from(embedding));
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
