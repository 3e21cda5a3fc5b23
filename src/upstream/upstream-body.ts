// The body an upstream is sent: the caller's text with the few members changed that must differ. Pure.

import type { ChatRequest } from '../domain/chat.ts';
import { AppError } from '../domain/errors.ts';
import { type JsonMember, parsePlainJson } from '../domain/json.ts';
import { editMembers, findValue, listMembers } from './json-text.ts';
import type { ChatUpstreamOptions, ReasoningOptions } from './upstream-options.ts';

/** @throws AppError `invalid_request` when a member we act on is there twice */
export function refuseDuplicates(members: readonly JsonMember[], readMembers: readonly string[]): void {
  const keys = members.map(({ key }) => key);
  const twice = readMembers.find((name) => keys.indexOf(name) !== keys.lastIndexOf(name));
  if (twice !== undefined) {
    throw new AppError('invalid_request', `The field '${twice}' is there more than once.`, { param: twice });
  }
}

/** As they were found when the body was parsed, or found now. */
export function membersOf({ bodyText, bodyMembers }: ChatRequest): readonly JsonMember[] {
  return bodyMembers ?? listMembers(bodyText);
}

/** @param request one that was not refused for its duplicates */
export function upstreamBody(
  request: ChatRequest,
  options: Pick<ChatUpstreamOptions, 'upstreamModel' | 'reasoning' | 'takesStreamOptions'>,
): string {
  const members = membersOf(request);
  const textOf = (key: string) => findValue(request.bodyText, members, key);

  const edits = new Map<string, string | undefined>([['model', JSON.stringify(options.upstreamModel)]]);
  // Its usage comes unasked, and its `stream_options` are others.
  if (request.format === 'responses') return editMembers(request.bodyText, members, edits);
  if (!options.takesStreamOptions) edits.set('stream_options', undefined);
  else if (request.stream) edits.set('stream_options', withUsageAsked(textOf('stream_options')));
  if (options.reasoning !== undefined && request.format === 'chat') addCapEdits(edits, textOf, options.reasoning);
  return editMembers(request.bodyText, members, edits);
}

/** Usage is asked for in any case: it is what a request is accounted by. */
function withUsageAsked(streamOptions: string | undefined): string {
  if (streamOptions === undefined || streamOptions === 'null') return '{"include_usage":true}';
  return editMembers(streamOptions, listMembers(streamOptions), new Map([['include_usage', 'true']]));
}

/**
 * `max_tokens` limits what is visible, so a cap that covers reasoning too is widened by the allowance.
 * `max_completion_tokens` covers reasoning by its own definition and is passed on as it is; where both end up in one
 * field the smaller one holds.
 */
function addCapEdits(
  edits: Map<string, string | undefined>,
  textOf: (key: string) => string | undefined,
  { allowanceTokens, capField }: ReasoningOptions,
): void {
  const visible = parseCap(textOf('max_tokens'));
  if (visible === undefined) return;
  const widened = visible + allowanceTokens;
  if (capField === 'max_tokens') {
    edits.set('max_tokens', String(widened));
    return;
  }
  const whole = parseCap(textOf('max_completion_tokens'));
  edits.set('max_tokens', undefined);
  edits.set('max_completion_tokens', String(Math.min(widened, whole ?? widened)));
}

function parseCap(value: string | undefined): number | undefined {
  return value === undefined ? undefined : asCap(parsePlainJson(value));
}

/** Anything but a positive integer is the upstream's to refuse. */
export function asCap(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}
