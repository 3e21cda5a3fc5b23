// Questions as flags: `--choice "Which team?" billing="payments, refunds" technical`, into the text of a request's
// `questions`. Written name by name, because an object would reorder names such as "10".

import { parsePlainJson } from '../domain/json.ts';
import { type CommandOption, type Token, UsageError } from './command.ts';

/** The flags of a command that takes questions so. */
export const QUESTION_OPTIONS = {
  choice: {
    type: 'string',
    multiple: true,
    help: 'One of several; options follow',
    example: '"Which team?" a="…" b',
  },
  noul: {
    type: 'string',
    multiple: true,
    help: 'Yes or no; true="…" false="…" may follow',
    example: '"Is it spam?"',
  },
  score: {
    type: 'string',
    multiple: true,
    help: 'A scale; levels follow, lowest first',
    example: '"How angry?" calm cross',
  },
} as const satisfies Readonly<Record<string, CommandOption>>;

export interface AskedQuestions {
  /** JSON text. */
  readonly json: string;
  /** Name → what to print above its answer. */
  readonly titles: ReadonlyMap<string, string>;
}

interface Draft {
  readonly type: 'choice' | 'score' | 'noul';
  readonly instructions: string;
  readonly words: string[];
}

/** @throws UsageError when there is no question among the tokens */
export function questionsFromTokens(tokens: readonly Token[]): AskedQuestions {
  const drafts: Draft[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') drafts.at(-1)?.words.push(token.value);
    else if (isType(token.name)) drafts.push({ type: token.name, instructions: token.value ?? '', words: [] });
  }
  if (drafts.length === 0) throw new UsageError('Ask something: --choice, --noul, --score or --questions.');
  const named = drafts.map((draft, index) => [`q${index + 1}`, draft] as const);
  return {
    json: writeObject(named.map(([name, draft]) => [name, writeDraft(draft)])),
    titles: new Map(named.map(([name, draft]) => [name, draft.instructions])),
  };
}

/** @param json the `questions` of a request; its text is kept, with its order. @throws UsageError */
export function questionsFromJson(json: string): AskedQuestions {
  let parsed: unknown;
  try {
    parsed = parsePlainJson(json);
  } catch {
    throw new UsageError('The file of --questions is not valid JSON.');
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new UsageError('The file of --questions must hold an object: question name → question, as in a request.');
  }
  const titles = Object.entries(parsed).map(([name, question]) => {
    const instructions: unknown = (question as { instructions?: unknown } | null)?.instructions;
    return [name, typeof instructions === 'string' ? `${name}: ${instructions}` : name] as const;
  });
  return { json, titles: new Map(titles) };
}

/** Words before the first question: the document's file. */
export function wordsBeforeQuestions(tokens: readonly Token[]): string[] {
  const first = tokens.findIndex((token) => token.kind === 'option' && isType(token.name));
  return tokens
    .slice(0, first === -1 ? tokens.length : first)
    .flatMap((token) => (token.kind === 'positional' ? [token.value] : []));
}

function isType(name: string): name is Draft['type'] {
  return name === 'choice' || name === 'score' || name === 'noul';
}

function writeDraft({ type, instructions, words }: Draft): string {
  const head: [string, string][] = [
    ['type', JSON.stringify(type)],
    ['instructions', JSON.stringify(instructions)],
  ];
  if (type === 'score') return writeObject([...head, ['criteria', JSON.stringify(words)]]);
  if (type === 'noul' && words.length === 0) return writeObject(head);
  return writeObject([...head, ['criteria', writeObject(words.map(toOption))]]);
}

/** `name=description`, or a name alone. */
function toOption(word: string): [string, string] {
  const at = word.indexOf('=');
  return at === -1 ? [word, 'null'] : [word.slice(0, at), JSON.stringify(word.slice(at + 1))];
}

function writeObject(members: readonly (readonly [name: string, json: string])[]): string {
  return `{${members.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`;
}
