// Requests to the admin routes with the key that the operator entered. A key that is refused closes the page: whatever it
// shows may be old by then.

import { signal } from '@preact/signals';
import { callApi, RequestError } from '../api/call-api.ts';
import { openKeyHolder } from '../api/key-store.ts';
import type { WirePage } from './wire-types.ts';

const MAX_PAGES = 20;
const REFUSALS_OF_KEYS: ReadonlySet<string> = new Set(['invalid_api_key', 'insufficient_scope']);

export const adminKey = openKeyHolder('admin');
/** Why the key that was in use is not taken any more; undefined: it is, or there was none. */
export const keyRefusal = signal<RequestError>();

/** How far the server's clock is ahead of this one, in milliseconds: ranges are by its time. */
let clockAheadMs = 0;

export function serverNowMs(): number {
  return Date.now() + clockAheadMs;
}

export interface AdminCall {
  readonly method?: 'DELETE' | 'PATCH' | 'POST';
  readonly body?: object;
  readonly signal?: AbortSignal;
}

/** @throws RequestError; DOMException `AbortError` */
export async function askAdmin<Reply>(path: string, { method, body, signal: abort }: AdminCall = {}): Promise<Reply> {
  try {
    const { body: reply, headers } = await callApi(`/admin/v1${path}`, {
      key: adminKey.key.value,
      ...(method === undefined ? {} : { method }),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(abort === undefined ? {} : { signal: abort }),
    });
    const atMs = Date.parse(headers.get('date') ?? '');
    if (!Number.isNaN(atMs)) clockAheadMs = atMs - Date.now();
    return reply as Reply;
  } catch (error) {
    if (error instanceof RequestError && REFUSALS_OF_KEYS.has(error.code)) {
      keyRefusal.value = error;
      adminKey.forget();
    }
    throw error;
  }
}

export interface WholeList<Item> {
  readonly items: readonly Item[];
  /** Whether there are more than this page asks for. */
  readonly isCut: boolean;
}

/** A list with all its pages, up to 20,000 items. @param path with a query */
export async function askWholeList<Item>(path: string, abort?: AbortSignal): Promise<WholeList<Item>> {
  const items: Item[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MAX_PAGES; page++) {
    const from: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const call = abort === undefined ? {} : { signal: abort };
    const reply: WirePage<Item> = await askAdmin(`${path}&limit=1000${from}`, call);
    items.push(...reply.data);
    cursor = reply.next_cursor;
    if (cursor === null) return { items, isCut: false };
  }
  return { items, isCut: true };
}
