// Whether an upstream of the configuration can be used, asked without a prompt and without a cost: its list of models. What
// it answers is never repeated, only what follows from it.

import { request } from 'undici';
import { isRecord } from '../domain/json.ts';
import { findNearest } from '../domain/near-miss.ts';
import { parseObject } from './json-object.ts';

export interface CheckedUpstream {
  readonly baseUrl: string;
  /** undefined: none is sent. */
  readonly apiKey: string | undefined;
  /** The upstream's own names of the models that are offered from it. */
  readonly upstreamModels: readonly string[];
}

export interface UpstreamFinding {
  /** `fault`: calls will fail. `warning`: calls to some model may fail. */
  readonly state: 'ok' | 'warning' | 'fault';
  /** What was found, without a period at its end. */
  readonly text: string;
  /** Its clock, in whole seconds; undefined: it does not tell. */
  readonly dateMs?: number | undefined;
}

const MAX_LIST_BYTES = 4 * 1024 * 1024;
/** Statuses of a server that has no such list, or does not tell it. */
const NO_LIST: ReadonlySet<number> = new Set([404, 405, 501]);

/** @param signal ends it early */
export async function checkUpstream(upstream: CheckedUpstream, signal: AbortSignal): Promise<UpstreamFinding> {
  const { origin, pathname, search } = new URL(upstream.baseUrl);
  const { apiKey } = upstream;
  const headers = {
    accept: 'application/json',
    'user-agent': 'umpire',
    ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
  };
  try {
    const url = `${origin}${pathname.replace(/\/+$/, '')}/models${search}`;
    const { statusCode, headers: told, body } = await request(url, { headers, signal, reset: true });
    const text = await readStart(body);
    const dateMs = Date.parse(String(told['date']));
    return { ...judge(statusCode, text, upstream), dateMs: Number.isNaN(dateMs) ? undefined : dateMs };
  } catch (error) {
    if (signal.aborted) return { state: 'fault', text: 'gives no answer in time' };
    return { state: 'fault', text: `cannot be reached: ${codeOf(error)}` };
  }
}

function judge(status: number, text: string | undefined, upstream: CheckedUpstream): UpstreamFinding {
  if (status === 401 || status === 403) {
    const remedy =
      upstream.apiKey === undefined ? 'name the variable with its key in apiKeyEnv' : 'is it the right one?';
    return { state: 'fault', text: `refuses the API key (status ${status}): ${remedy}` };
  }
  if (NO_LIST.has(status)) return { state: 'ok', text: 'answers, but tells no list of models to compare with' };
  if (status < 200 || status > 299) return { state: 'fault', text: `answers with status ${status}` };
  const offered = text === undefined ? undefined : readIds(text);
  if (offered === undefined) return { state: 'ok', text: 'answers, but tells no list of models to compare with' };
  const missing = upstream.upstreamModels.filter((model) => !offered.includes(model));
  if (missing.length > 0)
    return { state: 'warning', text: missing.map((name) => describeMissing(name, offered)).join('; ') };
  return { state: 'ok', text: `answers, and lists ${upstream.upstreamModels.join(', ')}` };
}

/** A server may know a model by more names than it lists: no more than a warning. */
function describeMissing(name: string, offered: readonly string[]): string {
  const nearest = findNearest(name, offered);
  return `does not list the model ${name}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
}

/** `{data: [{id}]}`, as the chat format has it. */
function readIds(text: string): string[] | undefined {
  const data = parseObject(text)?.['data'];
  if (!Array.isArray(data)) return undefined;
  return data.flatMap((model: unknown) => (isRecord(model) && typeof model['id'] === 'string' ? [model['id']] : []));
}

/** @returns undefined when it is too long */
async function readStart(body: AsyncIterable<Uint8Array>): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_LIST_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Never the message: one about a malformed reply quotes it. */
function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'the connection failed';
}
