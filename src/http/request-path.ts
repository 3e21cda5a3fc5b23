// The path of a request as the router sees it: slashes too many are dropped, and `/v1/…` may stand for `/ai/v1/…`. Pure.

const BASE = '/ai/v1/';
const LONG_BASE = /^\/+ai\/+v1(?=\/|$)\/*/;
const EITHER_BASE = /^\/+(?:ai\/+)?v1(?=\/|$)\/*/;
const SLASH = 0x2f;

/**
 * `/ai/v1/models/` and `/ai//v1/models` come of addresses that are put together with a slash at either end.
 * @param shortBase whether `/v1/…` is the same as `/ai/v1/…`, where clients look for a server of the chat format
 * @returns a query stays as it is
 */
export function normalisePath(url: string, shortBase: boolean): string {
  const query = url.indexOf('?');
  const path = query < 0 ? url : url.slice(0, query);
  const based = path.replace(shortBase ? EITHER_BASE : LONG_BASE, BASE);
  let end = based.length;
  while (end > 1 && based.charCodeAt(end - 1) === SLASH) end -= 1;
  return based.slice(0, end) + (query < 0 ? '' : url.slice(query));
}
