// Which of a classifier's logits means what. Every publisher has another order, so it is read and never assumed.

import { isRecord } from '../domain/json.ts';
import { RecipeError } from './recipe-error.ts';

/** As the library of these models takes a configuration that says nothing. */
const UNSTATED_LABELS = 2;
const MOST_LABELS = 3;

export interface EntailmentPlaces {
  readonly count: number;
  readonly entailment: number;
  /** Whatever is not entailment where there are two. */
  readonly contradiction: number;
  readonly from: string;
}

export interface PlaceChoices {
  readonly entailment?: number | undefined;
  readonly contradiction?: number | undefined;
}

/** Names by place, `undefined` where a place has none. */
export function readLabels(config: Readonly<Record<string, unknown>>): readonly (string | undefined)[] {
  const places = new Map<number, string>();
  const { id2label, label2id, num_labels: stated } = config;
  for (const [place, name] of Object.entries(isRecord(id2label) ? id2label : {}))
    places.set(Number(place), String(name));
  for (const [name, place] of Object.entries(isRecord(label2id) ? label2id : {})) {
    if (!places.has(Number(place))) places.set(Number(place), name);
  }
  const count =
    places.size > 0 ? Math.max(...places.keys()) + 1 : typeof stated === 'number' ? stated : UNSTATED_LABELS;
  return Array.from({ length: Math.min(Number.isInteger(count) ? count : 0, 1000) }, (_, place) => places.get(place));
}

export function hasEntailment(labels: readonly (string | undefined)[]): boolean {
  return placeOf(labels, 'entailment') >= 0;
}

/** @throws RecipeError when the files do not say it, with the option that does */
export function findEntailment(labels: readonly (string | undefined)[], choices: PlaceChoices): EntailmentPlaces {
  const count = labels.length;
  const told = labels.map((name, place) => `${place} ${name ?? '(no name)'}`).join(', ');
  if (count < 2 || count > MOST_LABELS) {
    throw new RecipeError(`A model of entailment has two or three labels; config.json has ${count}: ${told}.`);
  }
  const entailment = choices.entailment ?? placeOf(labels, 'entailment');
  if (entailment < 0) {
    throw new RecipeError(`config.json: id2label names no entailment (${told}): add --entailment-index N.`);
  }
  const named = placeOf(labels, 'contradiction');
  const contradiction = choices.contradiction ?? (count === 2 ? 1 - entailment : named);
  if (contradiction < 0) {
    throw new RecipeError(`config.json: id2label names no contradiction (${told}): add --contradiction-index N.`);
  }
  if (Math.max(entailment, contradiction) >= count || entailment === contradiction) {
    throw new RecipeError(`Entailment and contradiction are two of the places 0 to ${count - 1}: ${told}.`);
  }
  const isChosen = choices.entailment !== undefined || choices.contradiction !== undefined;
  return { count, entailment, contradiction, from: isChosen ? 'command line' : 'config.json: id2label' };
}

/** @throws RecipeError when the files put a meaning at several places, and nobody has chosen one */
export function requireOneOrder(config: Readonly<Record<string, unknown>>, choices: PlaceChoices): void {
  const { id2label, label2id } = config;
  const named = [
    ...Object.entries(isRecord(id2label) ? id2label : {}).map(
      ([place, name]) => [String(name), Number(place)] as const,
    ),
    ...Object.entries(isRecord(label2id) ? label2id : {}).map(([name, place]) => [name, Number(place)] as const),
  ];
  for (const meaning of ['entailment', 'contradiction'] as const) {
    const places = new Set(named.filter(([name]) => isCalled(name, meaning)).map(([, place]) => place));
    if (places.size < 2 || choices[meaning] !== undefined) continue;
    throw new RecipeError(
      `config.json: id2label and label2id have ${meaning} at several places (${[...places].join(' and ')}): add --${meaning}-index N as the card of the model has it.`,
    );
  }
}

/** −1: nowhere. */
function placeOf(labels: readonly (string | undefined)[], wanted: string): number {
  return labels.findIndex((name) => isCalled(name, wanted));
}

function isCalled(name: string | undefined, wanted: string): boolean {
  return name?.trim().toLowerCase() === wanted;
}
