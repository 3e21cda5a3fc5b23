// The models that a key may use, as the server lists them.

import { callApi, RequestError } from './call-api.ts';

export interface UsableModel {
  readonly id: string;
  readonly type: 'decision' | 'embedding' | 'llm';
  readonly description: string;
}

const TYPES = ['decision', 'embedding', 'llm'] as const;

/** @throws RequestError */
export async function fetchModels(key: string): Promise<UsableModel[]> {
  const { body } = await callApi('/ai/v1/models', { key });
  const { data } = Object(body);
  if (!Array.isArray(data)) throw new RequestError('The reply is no list of models.', { code: 'unreadable' });
  return data.flatMap((entry: unknown) => {
    const { id, type, description } = Object(entry);
    const known = TYPES.find((name) => name === type);
    return typeof id !== 'string' || known === undefined ? [] : [{ id, type: known, description: String(description) }];
  });
}
