// What every server is asked before it is timed: the golden cases of the models, and the shapes where code that cuts, chunks and
// pools is easily wrong.

import {
  DECISION_MODEL,
  type DecisionBody,
  type Job,
  makeDecision,
  makeDocument,
  makeMixedInputs,
  type WireQuestion,
} from '../load/workload.ts';
import { named, readGoldenDecisions, readGoldenEmbeddings } from './golden.ts';

const SPECIAL = /\[(SEP|CLS|MASK|PAD|UNK)\]/;
/** Either side of a window, and many of them. */
const LENGTHS = [1, 30, 128, 253, 254, 255, 512, 1000, 2000, 4000];
/** From one option to as many as the protocol takes. */
const OPTION_COUNTS = [1, 2, 7, 60, 255];

export function listDecisionCases(): readonly Job[] {
  // Instructions and options that are longer than a window.
  const long: WireQuestion = { type: 'choice', instructions: makeDocument(600), criteria: makeOptions(3, 300) };
  const bodies = [
    ...LENGTHS.map((stateTokens) => makeDecision({ stateTokens, questions: 3 })),
    makeDecision({ stateTokens: 700, questions: 12 }),
    makeDecision({ stateTokens: 4000, questions: 8, kind: 'choice' }),
    ...[40, 4000].flatMap((tokens) =>
      OPTION_COUNTS.map((count) => makeBody(makeDocument(tokens), makeChoice(makeOptions(count, 6)))),
    ),
    makeBody(makeDocument(300), long, makeChoice(makeOptions(4, 120))),
    makeBody('', makeChoice(makeOptions(4, 3))),
  ];
  return [...readGoldenDecisions().map(({ job }) => job), ...bodies.map((body): Job => ({ task: 'decision', body }))];
}

/** Single texts, and a batch of many lengths. */
export function listEmbeddingCases(): readonly Job[] {
  const golden = readGoldenEmbeddings().flatMap(({ job }) => (job.task === 'embedding' ? [job.inputs] : []));
  // Others read "[SEP]" in a text as the token of that name, and answer something else to it.
  const plain = golden.filter((inputs) => !inputs.some((input) => SPECIAL.test(input)));
  const single = [1, 16, 100, 254].map((tokens) => [makeDocument(tokens)]);
  return [...plain, ...single, makeMixedInputs()].map((inputs): Job => ({ task: 'embedding', inputs }));
}

function makeChoice(criteria: Readonly<Record<string, string>>): WireQuestion {
  return { type: 'choice', instructions: 'Which of these fits the message best?', criteria };
}

/** The last one has no description: its name is its text. */
function makeOptions(count: number, tokens: number): Record<string, string> {
  const describe = (index: number): string => (index === count - 1 ? '' : makeDocument(tokens));
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`option ${index}`, describe(index)]));
}

function makeBody(state: string, ...questions: readonly WireQuestion[]): DecisionBody {
  return { model: DECISION_MODEL, state, questions: named(questions) };
}
