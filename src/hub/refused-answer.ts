// What an answer of a hub means that is not what was asked for, in words that say what to do.

import { readAskedPatience } from './asked-patience.ts';
import type { HubAnswer } from './hub-connections.ts';
import { HubError } from './hub-error.ts';
import { TemporaryFault } from './temporary-fault.ts';

export interface AskedThing {
  /** Address of the hub. */
  readonly endpoint: string;
  readonly repo: string;
  readonly hasToken: boolean;
  /** `the revision "x"`, `the file "x" at 0123abcd`: what is missing where something is. */
  readonly what: string;
}

const PASSING = [408, 429, 500, 502, 503, 504];
const BAD_TOKEN = /^invalid (credentials|user ?token)/i;
const MAX_SAID_LENGTH = 300;

/** @param nowMs since 1970 @returns HubError, or TemporaryFault where it may go well later */
export function explainRefusal(answer: HubAnswer, asked: AskedThing, nowMs: number): Error {
  const { status, headers, otherHost } = answer;
  const who = otherHost ?? asked.endpoint;
  if (PASSING.includes(status)) {
    const waitMs = readAskedPatience({ rateLimit: headers['ratelimit'], retryAfter: headers['retry-after'] }, nowMs);
    const why = status === 429 ? 'has had too many requests from here' : 'is not well';
    return new TemporaryFault(`${who} ${why} (status ${status}).`, { waitMs });
  }
  if (status === 407) return new HubError(`The proxy on the way to ${who} wants another name or password.`);
  // Addresses of files are signed, for some minutes: the hub is asked for another one.
  if (otherHost !== undefined && status === 403)
    return new TemporaryFault(`${otherHost} refuses the address that the hub gave (status 403).`, { waitMs: 0 });
  if (otherHost !== undefined)
    return new HubError(`${otherHost} answered ${asked.what} of ${asked.repo} with status ${status}.`);
  return new HubError(describeRefusal(answer, asked));
}

function describeRefusal({ status, headers }: HubAnswer, asked: AskedThing): string {
  const { endpoint, repo, hasToken, what } = asked;
  const code = headers['x-error-code'];
  const said = headers['x-error-message'];
  const quoted = said === undefined ? '' : `: ${cleanText(said)}`;
  if (status === 401 && hasToken && BAD_TOKEN.test(said ?? '')) return `${endpoint} does not know the token.`;
  if (code === 'GatedRepo') {
    const conditions = `its conditions must be accepted at ${endpoint}/${repo}`;
    return status === 403 || hasToken
      ? `The token may not read ${repo}: ${conditions}, by the account that it belongs to.`
      : `${repo} is gated: ${conditions}, and HF_TOKEN must be a token of that account.`;
  }
  if (code === 'RevisionNotFound' || code === 'EntryNotFound') return `${repo} has no ${what.replace(/^the /, '')}.`;
  if (code === 'RepoNotFound' || status === 401) {
    const why = hasToken ? 'or the token may not read it' : 'or it needs a token: HF_TOKEN';
    return `${repo} was not found at ${endpoint}, ${why}.`;
  }
  if (status === 403) return `${endpoint} refuses ${what} of ${repo}${quoted || ' (status 403)'}`;
  if (status === 404) return `${endpoint} has no ${what.replace(/^the /, '')} of ${repo} (status 404)${quoted}.`;
  return `${endpoint} answered ${what} of ${repo} with status ${status}${quoted}.`;
}

/** A stranger's text, fit for a terminal. */
function cleanText(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ').slice(0, MAX_SAID_LENGTH);
}
