// HTTP to a hub and to the hosts it keeps its files at. The token goes to the hub alone: once a redirect has led to another
// host, no request of that chain has it again.

import type { Readable } from 'node:stream';
import { EnvHttpProxyAgent, request } from 'undici';
import { messageOf } from '../domain/errors.ts';
import type { HubEndpoint } from './endpoint.ts';
import { HubError } from './hub-error.ts';
import { TemporaryFault } from './temporary-fault.ts';

/** Addresses; empty: none. */
export interface Proxies {
  readonly http: string;
  readonly https: string;
  /** Hosts that are asked without, separated by commas. */
  readonly none: string;
}

export interface ConnectionSettings {
  /** undefined: who asks is nobody. */
  readonly token: string | undefined;
  /** For a connection, and for the head of an answer. */
  readonly answerTimeoutMs: number;
  /** Longest silence inside a body. */
  readonly stallTimeoutMs: number;
  readonly proxies: Proxies;
}

export interface HubQuestion {
  readonly url: URL;
  /** Of a file: where it begins. */
  readonly fromByte?: number;
  readonly signal: AbortSignal | undefined;
  /** Whether the answer may come from another host. */
  readonly mayLeave: boolean;
}

export interface HubAnswer {
  readonly status: number;
  /** By name in lower case; of several with one name the first. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** What the hub itself said on the way to another host: commit, sum and size of the file. */
  readonly ownHeaders: Readonly<Record<string, string | undefined>>;
  /** To be read or destroyed. */
  readonly body: Readable;
  /** undefined: the hub itself. */
  readonly otherHost: string | undefined;
}

const MAX_REDIRECTS = 8;
const REDIRECTS = [301, 302, 303, 307, 308];
const BROKEN_TRUST = /CERT|SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|ERR_TLS/;

export class HubConnections {
  readonly #endpoint: HubEndpoint;
  readonly #settings: ConnectionSettings;
  /** Made by the first request. */
  #agent: EnvHttpProxyAgent | undefined;

  constructor(endpoint: HubEndpoint, settings: ConnectionSettings) {
    this.#endpoint = endpoint;
    this.#settings = settings;
  }

  get hasToken(): boolean {
    return this.#settings.token !== undefined;
  }

  /**
   * @returns the first answer that is no redirect
   * @throws TemporaryFault when none came; HubError; the signal's reason
   */
  async ask(question: HubQuestion): Promise<HubAnswer> {
    let { url } = question;
    let isAway = false;
    let ownHeaders = {};
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const { status, headers, body } = await this.#request(url, question, isAway);
      if (!isAway) ownHeaders = { ...ownHeaders, ...headers };
      if (!REDIRECTS.includes(status))
        return { status, headers, ownHeaders, body, otherHost: isAway ? url.host : undefined };
      body.destroy();
      url = this.#follow(url, headers['location']);
      isAway ||= !this.#endpoint.owns(url);
      if (isAway && !question.mayLeave)
        throw new HubError(
          `${this.#endpoint.address} sends to ${url.origin}. If that is the hub, it belongs into HF_ENDPOINT.`,
        );
    }
    throw new HubError(`${this.#endpoint.address} sends from address to address without an end.`);
  }

  async close(): Promise<void> {
    await this.#agent?.destroy();
  }

  /** Without the token, should a hub repeat it to us. */
  conceal(text: string): string {
    const { token } = this.#settings;
    return token === undefined ? text : text.replaceAll(token, '(the token)');
  }

  #follow(from: URL, location: string | undefined): URL {
    const url = location === undefined ? null : URL.parse(location, from.href);
    if (url !== null && /^https?:$/.test(url.protocol)) return url;
    throw new HubError(`${from.host} redirects to nowhere.`);
  }

  async #request(url: URL, { fromByte = 0, signal }: HubQuestion, isAway: boolean) {
    const { token, answerTimeoutMs, stallTimeoutMs } = this.#settings;
    this.#agent ??= this.#openAgent();
    try {
      const { statusCode, headers, body } = await request(url, {
        dispatcher: this.#agent,
        headers: {
          'user-agent': 'umpire',
          // A packed text has another length, and no place to go on from.
          'accept-encoding': 'identity',
          ...(fromByte > 0 ? { range: `bytes=${fromByte}-` } : {}),
          ...(token !== undefined && !isAway ? { authorization: `Bearer ${token}` } : {}),
        },
        headersTimeout: answerTimeoutMs,
        bodyTimeout: stallTimeoutMs,
        signal: signal ?? null,
      });
      // Whoever destroys a body has no interest in how it would have ended.
      body.on('error', () => undefined);
      return { status: statusCode, headers: firstOfEach(headers), body };
    } catch (error) {
      signal?.throwIfAborted();
      throw connectionFault(error, url.host);
    }
  }

  #openAgent(): EnvHttpProxyAgent {
    const { answerTimeoutMs, proxies } = this.#settings;
    try {
      return new EnvHttpProxyAgent({
        httpProxy: proxies.http,
        httpsProxy: proxies.https,
        noProxy: proxies.none,
        connect: { timeout: answerTimeoutMs },
        allowH2: false,
      });
    } catch {
      // Its message repeats the address, which may hold a password.
      throw new HubError('HTTP_PROXY or HTTPS_PROXY is not the address of a proxy.');
    }
  }
}

/** What a connection fails with that was made, or was not. @returns a TemporaryFault, or a HubError where waiting is no use */
export function connectionFault(error: unknown, host: string): Error {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const message = messageOf(error) || code;
  if (BROKEN_TRUST.test(code))
    return new HubError(
      `The certificate of ${host} is not trusted (${message}). That of a private authority belongs into NODE_EXTRA_CA_CERTS.`,
      { cause: error },
    );
  if (/\b407\b/.test(message)) return new HubError(`The proxy on the way to ${host} wants another name or password.`);
  return new TemporaryFault(`${host} cannot be reached or broke off (${message}).`, { cause: error });
}

function firstOfEach(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
  );
}
