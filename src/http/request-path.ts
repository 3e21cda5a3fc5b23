// The path of a request as the router sees it: slashes too many are dropped, `/v1/…` may stand for `/ai/v1/…`, and
// `/ai/v2/rerank` stands for `/ai/v1/rerank`. Pure.

const BASE = '/ai/v1/';
const LONG_BASE = /^\/+ai\/+v1(?=\/|$)\/*/;
const EITHER_BASE = /^\/+(?:ai\/+)?v1(?=\/|$)\/*/;
/** Clients of Cohere say the same to both versions of its API. */
const RERANK = '/ai/v1/rerank';
const LONG_SECOND_RERANK = /^\/+ai\/+v2\/+rerank\/*$/;
const EITHER_SECOND_RERANK = /^\/+(?:ai\/+)?v2\/+rerank\/*$/;
const SLASH = 0x2f;

/**
 * `/ai/v1/models/` and `/ai//v1/models` come of addresses that are put together with a slash at either end.
 * @param shortBase whether `/v1/…` is the same as `/ai/v1/…`, where clients look for a server of the chat format
 * @returns a query stays as it is
 */
export function normalisePath(url: string, shortBase: boolean): string {
  const query = url.indexOf('?');
  const path = query < 0 ? url : url.slice(0, query);
  const based = path
    .replace(shortBase ? EITHER_BASE : LONG_BASE, BASE)
    .replace(shortBase ? EITHER_SECOND_RERANK : LONG_SECOND_RERANK, RERANK);
  let end = based.length;
  while (end > 1 && based.charCodeAt(end - 1) === SLASH) end -= 1;
  return based.slice(0, end) + (query < 0 ? '' : url.slice(query));
}
