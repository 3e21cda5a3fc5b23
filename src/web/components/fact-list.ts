// What a reply cost and how long it took, as a row of figures.

import { h, type JSX } from 'preact';
import type { ApiReply } from '../api/call-api.ts';
import { type ReplyFacts, readFacts } from '../api/reply-facts.ts';
import { formatDollars, formatDuration, formatNumber } from '../format/figures.ts';

interface Fact {
  readonly name: string;
  readonly value: string;
  /** Smaller, below. */
  readonly detail?: string | undefined;
}

export function FactList({ reply }: { readonly reply: ApiReply }): JSX.Element {
  const facts = listFacts(readFacts(reply));
  return h(
    'dl',
    { class: 'facts' },
    facts.map(({ name, value, detail }) =>
      h('div', { key: name }, [
        h('dt', null, name),
        h('dd', null, value),
        detail === undefined ? null : h('dd', { class: 'fact-detail' }, detail),
      ]),
    ),
  );
}

function listFacts(facts: ReplyFacts): Fact[] {
  const { roundTripMs, serverMs, inputTokens, keptTokens, costUsd } = facts;
  const ofServer = [...serverMs].map(([name, duration]) => `${name} ${formatDuration(duration)}`).join(', ');
  return [
    { name: 'Latency', value: formatDuration(roundTripMs), detail: ofServer === '' ? undefined : ofServer },
    ...(inputTokens === undefined
      ? []
      : [
          {
            name: 'Tokens',
            value: formatNumber(inputTokens),
            detail: keptTokens > 0 ? `${formatNumber(keptTokens)} kept from before` : undefined,
          },
        ]),
    ...(costUsd === undefined ? [] : [{ name: 'Cost', value: formatDollars(costUsd) }]),
    { name: 'From cache', ...describeCache(facts) },
  ];
}

function describeCache({ cache, keptTokens }: ReplyFacts): Pick<Fact, 'value' | 'detail'> {
  if (cache === 'hit') return { value: 'the answer', detail: 'the same was asked before' };
  if (cache === 'merged') return { value: 'shared', detail: 'with an identical request' };
  return keptTokens > 0
    ? { value: 'the document', detail: 'only what is new was read' }
    : { value: 'nothing', detail: 'all was read' };
}
