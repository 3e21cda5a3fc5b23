// What a marker encoder reads for one question: the row of its ids, checked against the model's limits, exactly as
// models/README.md says. No graphs: the same code counts before a decision and runs in it. Pure.

import type { Question } from '../../../domain/question.ts';
import { sum } from '../../../domain/sum.ts';
import type { MarkerEncoderManifest } from '../../model-folder/manifest.ts';
import type { Tokenizer } from '../../tokenizer/tokenizer.ts';
import { type RenderedOption, sortOptions } from '../option-order.ts';
import { countedTokens, exceedsContext, tellTokens } from '../token-limit.ts';

export interface MarkerReader {
  readonly manifest: MarkerEncoderManifest;
  readonly tokenizer: Tokenizer;
}

export interface MarkerTexts {
  readonly state: string;
  readonly questions: readonly Question[];
  /** Index in the request of each question, for messages. Default: 0, 1, … */
  readonly places?: readonly number[] | undefined;
}

export interface MarkerRow {
  readonly ids: Int32Array;
  /** `[options]`, in the model's order: where the marker of each stands. */
  readonly markers: readonly number[];
  /** `[options]`: place in the request of each option in the model's order. */
  readonly order: readonly number[];
  /** Without specials and markers. */
  readonly contentTokens: number;
}

interface MarkerIds {
  readonly cls: number;
  readonly sep: number;
  readonly mask: number;
}

/** Of a question's budget: what its options leave to the instructions, else options are short. */
const LEAST_INSTRUCTION_BUDGET = 16;
/** What instructions may have however many options there are. */
const LEAST_INSTRUCTION_TOKENS = 8;
/** What an option may have however many there are, its marker included. */
const LEAST_OPTION_TOKENS = 4;

/** @throws Error where tokenizer.json lacks one of them */
export function findMarkerIds({ manifest, tokenizer }: MarkerReader): MarkerIds {
  const find = (name: keyof MarkerIds): number => {
    const id = tokenizer.idOf(manifest.special_tokens[name]);
    if (id === undefined) throw new Error(`tokenizer.json has no token ${manifest.special_tokens[name]}`);
    return id;
  };
  return { cls: find('cls'), sep: find('sep'), mask: find('mask') };
}

/** @returns ids without specials @throws AppError context_length_exceeded */
export function tokenizeMarkerState(state: string, { manifest, tokenizer }: MarkerReader): Int32Array {
  const limit = manifest.limits.row_tokens;
  const ids = tokenizer.encode(withoutMarkers(state, manifest), countedTokens(limit));
  if (ids.length <= limit) return ids;
  const message = `The state has ${tellTokens(ids.length, limit)} tokens; ${manifest.id} takes at most ${limit}, with a question.`;
  throw exceedsContext(message, 'state');
}

/**
 * One row for each question.
 * @param stateIds ids of the state. Default: they are read
 * @throws AppError context_length_exceeded
 */
export function readMarkerRows(
  { state, questions, places }: MarkerTexts,
  reader: MarkerReader,
  stateIds = tokenizeMarkerState(state, reader),
): MarkerRow[] {
  return questions.map((question, index) => {
    const name = `questions[${places?.[index] ?? index}]`;
    return layOut(readQuestion(question, name, reader), { name, stateIds, reader });
  });
}

interface QuestionIds {
  readonly instructions: Int32Array;
  /** `[options]`, in the model's order. */
  readonly options: readonly Int32Array[];
  readonly order: readonly number[];
}

function readQuestion(question: Question, name: string, reader: MarkerReader): QuestionIds {
  const { manifest, tokenizer } = reader;
  const { option_tokens: optionLimit, question_tokens: questionLimit } = manifest.limits;
  const read = (text: string, limit: number) => tokenizer.encode(withoutMarkers(text, manifest), countedTokens(limit));
  // The type's name is no text of the caller's, which alone may hold markers.
  const instructions = read(`${question.type} question: ${question.instructions}`, questionLimit);
  const rendered = renderMarkedOptions(question);
  const order = sortOptions(question, rendered);
  const options = order.map((place) => read(` ${rendered[place]?.text ?? ''}`, optionLimit));
  requireShortOptions(options, name, reader);
  const used = sum(options.map((ids) => 1 + ids.length));
  const left = Math.max(LEAST_INSTRUCTION_TOKENS, questionLimit - used);
  if (instructions.length > left) {
    const told = tellTokens(instructions.length, questionLimit);
    throw exceedsContext(
      `The instructions of ${name} have ${told} tokens; beside these options ${manifest.id} takes at most ${left}.`,
      name,
    );
  }
  return { instructions, options, order };
}

/** Laya cuts options where they leave instructions too little; each is refused that it would cut. */
function requireShortOptions(options: readonly Int32Array[], name: string, { manifest }: MarkerReader): void {
  const { option_tokens: optionLimit, question_tokens: questionLimit } = manifest.limits;
  const longest = options.reduce((most, ids) => Math.max(most, ids.length), 0);
  const used = sum(options.map((ids) => 1 + ids.length));
  const share = Math.floor((questionLimit - LEAST_INSTRUCTION_BUDGET) / options.length);
  const isCrowded = questionLimit - used < LEAST_INSTRUCTION_BUDGET;
  const crowdedLimit = Math.max(LEAST_OPTION_TOKENS, share) - 1;
  const limit = isCrowded ? Math.min(optionLimit, crowdedLimit) : optionLimit;
  if (longest <= limit) return;
  const told = tellTokens(longest, optionLimit);
  const count = limit < optionLimit ? ` for each of ${options.length}` : '';
  throw exceedsContext(`An option of ${name} has ${told} tokens; ${manifest.id} takes at most ${limit}${count}.`, name);
}

interface RowParts {
  readonly name: string;
  readonly stateIds: Int32Array;
  readonly reader: MarkerReader;
}

/** `[CLS] instructions [SEP] [MASK] option [MASK] option … [SEP] state [SEP]` */
function layOut({ instructions, options, order }: QuestionIds, { name, stateIds, reader }: RowParts): MarkerRow {
  const { cls, sep, mask } = findMarkerIds(reader);
  const ids = [cls, ...instructions, sep];
  const markers: number[] = [];
  for (const option of options) {
    markers.push(ids.length);
    ids.push(mask, ...option);
  }
  ids.push(sep);
  const { id, limits } = reader.manifest;
  const left = limits.row_tokens - ids.length - 1;
  if (left < 0)
    throw exceedsContext(`${name} has ${ids.length} tokens; ${id} takes at most ${limits.row_tokens}.`, name);
  if (stateIds.length > left) {
    throw exceedsContext(
      `The state has ${stateIds.length} tokens; beside ${name} ${id} takes at most ${left}.`,
      'state',
    );
  }
  const contentTokens = sum([instructions, ...options, stateIds].map((part) => part.length));
  return { ids: Int32Array.from([...ids, ...stateIds, sep]), markers, order, contentTokens };
}

/** Options as the model reads them, in the order of the request. */
function renderMarkedOptions(question: Question): RenderedOption[] {
  switch (question.type) {
    case 'choice':
      return question.options.map(({ name, description }) => {
        return { text: description ? `${name}: ${description}` : name, name };
      });
    case 'score':
      return question.levels.map((level, place) => ({ text: `level ${place}: ${level}`, name: '' }));
    case 'noul': {
      const { whenFalse, whenTrue } = question;
      return [
        { text: `false: ${whenFalse || 'no, the statement does not hold'}`, name: 'false' },
        { text: `true: ${whenTrue || 'yes, the statement holds'}`, name: 'true' },
      ];
    }
  }
}

/** The model was trained on texts in which a marker's own text is a space. */
function withoutMarkers(text: string, { special_tokens: { mask } }: MarkerEncoderManifest): string {
  return text.replaceAll(mask, ' ');
}
