// One answer: a bar for each option, and what one would do with it.

import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { formatPercent } from '../format/figures.ts';
import type { AnswerBar, ShownAnswer } from './decision-answer.ts';

/** More are shown when asked for: of 255 options most have nothing to say. */
const SHOWN_BARS = 12;

export interface AnswerCardProps {
  readonly answer: ShownAnswer;
  readonly threshold: number;
}

export function AnswerCard({ answer, threshold }: AnswerCardProps): JSX.Element {
  const [showsAll, setShowsAll] = useState(false);
  const { name, instructions, best } = answer;
  const isLong = answer.bars.length > SHOWN_BARS;
  const bars = isLong && !showsAll ? likeliest(answer.bars) : answer.bars;
  const acts = best.probability >= threshold;
  return h('article', { class: 'answer' }, [
    h('header', { class: 'answer-head' }, [
      h('div', null, [h('h3', null, name), h('p', { class: 'soft' }, instructions)]),
      h(
        'span',
        { class: acts ? 'verdict verdict-act' : 'verdict verdict-ask' },
        acts ? `Act: ${wordOf(best)}` : 'Ask a person',
      ),
    ]),
    h(
      'ul',
      { class: 'bars' },
      bars.map((bar) => h(Bar, { bar, isBest: bar === best, threshold, key: bar.label })),
    ),
    isLong &&
      h(
        'button',
        { type: 'button', class: 'button button-small', onClick: () => setShowsAll(!showsAll) },
        showsAll ? `Show the likeliest ${SHOWN_BARS}` : `Show all ${answer.bars.length}`,
      ),
    h('p', { class: 'answer-foot soft' }, describeFigures(answer)),
  ]);
}

/** Of a score the level's own words, before the colon if it has one. */
export function wordOf({ label, detail }: AnswerBar): string {
  if (!/^\d+$/.test(label)) return label;
  return detail === '' ? label : (detail.split(':', 1)[0] ?? label);
}

function likeliest(bars: readonly AnswerBar[]): AnswerBar[] {
  return bars.toSorted((one, other) => other.probability - one.probability).slice(0, SHOWN_BARS);
}

function describeFigures({ confidence, score }: ShownAnswer): string {
  const parts = [
    ...(score === undefined ? [] : [`score ${score.value.toFixed(2)} of ${score.highest}`]),
    ...(confidence === undefined ? [] : [`confidence ${confidence.toFixed(2)}`]),
  ];
  return parts.join(' · ');
}

interface BarProps {
  readonly bar: AnswerBar;
  readonly isBest: boolean;
  readonly threshold: number;
}

function Bar({ bar, isBest, threshold }: BarProps): JSX.Element {
  const { label, detail, probability } = bar;
  return h('li', { class: isBest ? 'bar bar-best' : 'bar' }, [
    h('span', { class: 'bar-label', title: detail }, [
      h('b', null, label),
      detail === '' ? null : h('span', { class: 'bar-detail' }, detail),
    ]),
    h('span', { class: 'bar-value' }, formatPercent(probability)),
    h('span', { class: 'bar-track', 'aria-hidden': true }, [
      h('span', { class: 'bar-fill', style: { width: `${probability * 100}%` } }),
      h('span', { class: 'bar-tick', style: { left: `${threshold * 100}%` } }),
    ]),
  ]);
}
