// Reads the usage an upstream reports and makes its habits one: `completion_tokens` always has the reasoning tokens in
// it. Pure.

import { isRecord, parsePlainJson } from '../domain/json.ts';
import { MAX_BILLED_TOKENS } from '../domain/money.ts';
import type { TokenUsage } from '../domain/usage.ts';
import { editMembers, findValue, listMembers } from './json-text.ts';
import type { ReasoningUsage } from './upstream-options.ts';

/** A count of tokens as reported; undefined: not told, or not a count. */
type Count = number | undefined;

export interface ReportedUsage {
  readonly counted: TokenUsage;
  /** The upstream's usage object, corrected where its habit differs and otherwise to the letter. */
  readonly json: string;
}

/** What the counts are called in a format. */
export interface UsageNames {
  readonly input: string;
  readonly output: string;
  readonly inputDetails: string;
  readonly outputDetails: string;
}

const CHAT_USAGE: UsageNames = {
  input: 'prompt_tokens',
  output: 'completion_tokens',
  inputDetails: 'prompt_tokens_details',
  outputDetails: 'completion_tokens_details',
};
export const RESPONSE_USAGE: UsageNames = {
  input: 'input_tokens',
  output: 'output_tokens',
  inputDetails: 'input_tokens_details',
  outputDetails: 'output_tokens_details',
};

interface RawUsage {
  readonly prompt: number;
  readonly completion: number;
  readonly total: Count;
  readonly reasoning: Count;
  readonly cached: Count;
}

/**
 * @param text JSON of a reply's `usage`
 * @param habit undefined: not a reasoning model; counts of reasoning that are told are still read by the rule of `auto`
 * @returns undefined unless there is an object with counts of input and output that can be believed: whole
 * numbers from 0 to MAX_BILLED_TOKENS
 */
export function readUsage(
  text: string,
  habit: ReasoningUsage | undefined,
  names: UsageNames = CHAT_USAGE,
): ReportedUsage | undefined {
  const raw = parseUsage(parsePlainJson(text), names);
  if (raw === undefined) return undefined;
  const apart = reasoningApart(raw, habit);
  const reasoning = raw.reasoning ?? apart;
  const completion = raw.completion + apart;
  if (completion > MAX_BILLED_TOKENS) return undefined;
  return {
    counted: {
      inputTokens: raw.prompt,
      outputTokens: completion,
      // A part is never more than its whole, whatever is told.
      reasoningTokens: Math.min(reasoning, completion),
      cachedTokens: Math.min(raw.cached ?? 0, raw.prompt),
    },
    json: apart === 0 ? text : withReasoning(text, { completion, prompt: raw.prompt, reasoning }, names),
  };
}

/**
 * How many reasoning tokens are missing from `completion_tokens`. `auto`: those told are apart when the total is the sum
 * of all three, or when they are more than the whole completion. A total that is larger than its parts, with no
 * reasoning told, is reasoning that only the total has; that is believed of a reasoning model alone.
 */
function reasoningApart(raw: RawUsage, habit: ReasoningUsage | undefined): number {
  if (habit === 'included') return 0;
  const surplus = raw.total === undefined ? 0 : Math.max(0, raw.total - raw.prompt - raw.completion);
  if (raw.reasoning === undefined) return habit === undefined ? 0 : surplus;
  if (habit === 'apart') return raw.reasoning;
  return surplus === raw.reasoning || raw.reasoning > raw.completion ? raw.reasoning : 0;
}

function parseUsage(value: unknown, names: UsageNames): RawUsage | undefined {
  const usage = asObject(value);
  const prompt = asCount(usage?.[names.input]);
  const completion = asCount(usage?.[names.output]);
  if (usage === undefined || prompt === undefined || completion === undefined) return undefined;
  return {
    prompt,
    completion,
    total: asCount(usage['total_tokens']),
    reasoning:
      asCount(asObject(usage[names.outputDetails])?.['reasoning_tokens']) ?? asCount(usage['reasoning_tokens']),
    cached:
      asCount(asObject(usage[names.inputDetails])?.['cached_tokens']) ?? asCount(usage['prompt_cache_hit_tokens']),
  };
}

function withReasoning(
  text: string,
  counts: { prompt: number; completion: number; reasoning: number },
  names: UsageNames,
): string {
  const members = listMembers(text);
  const details = findValue(text, members, names.outputDetails);
  const detailsText = details?.startsWith('{') ? details : '{}';
  const reasoning = new Map([['reasoning_tokens', String(counts.reasoning)]]);
  return editMembers(
    text,
    members,
    new Map([
      [names.output, String(counts.completion)],
      ['total_tokens', String(counts.prompt + counts.completion)],
      [names.outputDetails, editMembers(detailsText, listMembers(detailsText), reasoning)],
    ]),
  );
}

function asObject(value: unknown): Record<string, unknown> | undefined {
  return isRecord(value) ? value : undefined;
}

function asCount(value: unknown): Count {
  if (typeof value !== 'number' || !Number.isInteger(value)) return undefined;
  return value >= 0 && value <= MAX_BILLED_TOKENS ? value : undefined;
}
