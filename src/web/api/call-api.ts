// One request to this server's public API, and its failure in words that a page can show.

export interface ApiCall {
  readonly key: string | undefined;
  /** Default: POST with a body, GET without. */
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** JSON as it is sent: the order of members counts, and an object would not keep it. */
  readonly body?: string;
  readonly signal?: AbortSignal;
}

export interface ApiReply {
  /** Parsed JSON: whatever the server sent. */
  readonly body: unknown;
  readonly headers: Headers;
  /** From the request to the last byte of the reply, as this page saw it. */
  readonly durationMs: number;
}

/** What the server said no to, in its own words, or why it did not answer. */
export class RequestError extends Error {
  /** Of the catalogue of errors (`docs/errors.md`); `unreachable`: no answer came. */
  readonly code: string;
  /** The field that is wrong: `questions[2].type`. */
  readonly param: string | undefined;
  readonly requestId: string | undefined;

  constructor(message: string, details: { code: string; param?: string | undefined; requestId?: string | undefined }) {
    super(message);
    this.code = details.code;
    this.param = details.param;
    this.requestId = details.requestId;
  }
}

/** @throws RequestError; DOMException `AbortError` where the page itself gave up */
export async function callApi(path: string, call: ApiCall): Promise<ApiReply> {
  const startMs = performance.now();
  const response = await openReply(path, call);
  const text = await readText(response);
  return { body: parseReply(text), headers: response.headers, durationMs: performance.now() - startMs };
}

/**
 * The reply from its head on, for streams.
 * @throws as `callApi`
 */
export async function openReply(path: string, { key, body, signal, method }: ApiCall): Promise<Response> {
  const headers = {
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
  const init = { method: method ?? (body === undefined ? 'GET' : 'POST'), headers, credentials: 'omit' as const };
  const sent = { ...init, ...(body === undefined ? {} : { body }), ...(signal === undefined ? {} : { signal }) };
  const response = await fetch(path, sent).catch(rethrowUnreachable);
  if (response.ok) return response;
  throw readRefusal(await readText(response), response);
}

async function readText(response: Response): Promise<string> {
  return await response.text().catch(rethrowUnreachable);
}

function rethrowUnreachable(error: unknown): never {
  if (error instanceof DOMException && error.name === 'AbortError') throw error;
  throw new RequestError('The server cannot be reached. Is it still running?', { code: 'unreachable' });
}

function parseReply(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new RequestError('The reply is not JSON. Is there a proxy in between?', { code: 'unreadable' });
  }
}

/** A proxy before the server may answer in its own way. */
function readRefusal(text: string, response: Response): RequestError {
  const requestId = response.headers.get('x-request-id') ?? undefined;
  const { message, code, param } = findErrorMembers(text);
  if (typeof message !== 'string') {
    return new RequestError(`Something between this page and the server answered with status ${response.status}.`, {
      code: `http_${response.status}`,
      requestId,
    });
  }
  return new RequestError(message, {
    code: typeof code === 'string' ? code : `http_${response.status}`,
    param: typeof param === 'string' ? param : undefined,
    requestId,
  });
}

function findErrorMembers(text: string): Record<string, unknown> {
  try {
    const { error } = JSON.parse(text);
    return typeof error === 'object' && error !== null ? error : {};
  } catch {
    return {};
  }
}
