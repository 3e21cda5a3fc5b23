// What every server is asked before it is timed: the golden cases of the models, and the shapes where code that cuts, chunks and
// pools is easily wrong. The same texts in every run: int8 is nearer to float32 in some than in others.

import {
  DECISION_MODEL,
  type DecisionBody,
  type Job,
  makeDecision,
  makeDocument,
  makeMixedInputs,
  makeRandom,
  type WireQuestion,
} from '../load/workload.ts';
import { named, readGoldenDecisions, readGoldenEmbeddings } from './golden.ts';

const SPECIAL = /\[(SEP|CLS|MASK|PAD|UNK)\]/;
/** Either side of a window, and many of them. */
const LENGTHS = [1, 30, 128, 253, 254, 255, 512, 1000, 2000, 4000];
/** From one option to as many as the protocol takes. */
const OPTION_COUNTS = [1, 2, 7, 60, 255];
const SEED = 20_261_121;

export async function listAnswerCases(): Promise<readonly Job[]> {
  const random = makeRandom(SEED);
  return [...(await listDecisionCases(random)), ...(await listEmbeddingCases(random))];
}

async function listDecisionCases(random: () => number): Promise<Job[]> {
  const words = (tokens: number): string => makeDocument(tokens, random);
  /** The last one has no description: its name is its text. */
  const choice = (count: number, tokens: number): WireQuestion => {
    const describe = (index: number): string => (index === count - 1 ? '' : words(tokens));
    const options = Array.from({ length: count }, (_, index) => [`option ${index}`, describe(index)]);
    const instructions = 'Which of these fits the message best?';
    return { type: 'choice', instructions, criteria: Object.fromEntries(options) };
  };
  const bodies = [
    ...LENGTHS.map((stateTokens) => makeDecision({ stateTokens, questions: 3 }, random)),
    makeDecision({ stateTokens: 700, questions: 12 }, random),
    makeDecision({ stateTokens: 4000, questions: 8, kind: 'choice' }, random),
  ];
  // Instructions and options that are longer than a window.
  const instructions = words(600);
  const long: WireQuestion = { ...choice(3, 300), instructions };
  bodies.push(
    ...[40, 4000].flatMap((tokens) => OPTION_COUNTS.map((count) => makeBody(words(tokens), choice(count, 6)))),
    makeBody(words(300), long, choice(4, 120)),
    makeBody('', choice(4, 3)),
  );
  const golden = await readGoldenDecisions();
  return [...golden.map(({ job }) => job), ...bodies.map((body): Job => ({ task: 'decision', body }))];
}

/** Single texts, and a batch of many lengths. */
async function listEmbeddingCases(random: () => number): Promise<Job[]> {
  const golden = (await readGoldenEmbeddings()).flatMap(({ job }) => (job.task === 'embedding' ? [job.inputs] : []));
  // Others read "[SEP]" in a text as the token of that name, and answer something else to it.
  const plain = golden.filter((inputs) => !inputs.some((input) => SPECIAL.test(input)));
  const single = [1, 16, 100, 254].map((tokens) => [makeDocument(tokens, random)]);
  return [...plain, ...single, makeMixedInputs(random)].map((inputs): Job => ({ task: 'embedding', inputs }));
}

function makeBody(state: string, ...questions: readonly WireQuestion[]): DecisionBody {
  return { model: DECISION_MODEL, state, questions: named(questions) };
}
