// One embedding call to a server with the tiny model.

/** @returns the status */
export async function embed(address: string, key: string): Promise<number> {
  const reply = await fetch(`${address}/ai/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'tiny-embedding', input: 'a text' }),
  });
  await reply.arrayBuffer();
  return reply.status;
}
