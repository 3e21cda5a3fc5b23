// What every peer is asked before it is timed: the golden cases of the models, and the shapes where code that cuts, chunks and
// pools is easily wrong. Pure, but for reading the golden files.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { DECISION_MODEL, type DecisionBody, EMBEDDING_MODEL, makeDecision, makeDocument } from '../load/workload.ts';
import type { PeerJob } from '../servers/peer.ts';
import { ROOT } from '../servers/started-peer.ts';
import { goldenQuestion } from './golden-check.ts';

const SPECIAL = /\[(SEP|CLS|MASK|PAD|UNK)\]/;

type Questions = DecisionBody['questions'];
type WireQuestion = Questions[string];

const goldenDecisions = z.object({
  cases: z.array(z.object({ state: z.string(), questions: z.array(goldenQuestion) })),
});
const goldenEmbeddings = z.object({ cases: z.array(z.object({ input: z.string() })) });

export function listDecisionCases(): readonly PeerJob[] {
  const bodies = [...listGoldenDecisions(), ...listLengths(), ...listShapes()];
  return bodies.map((body): PeerJob => ({ task: 'decision', body }));
}

/** Single texts, and a batch of many lengths as an indexing job sends it. */
export function listEmbeddingCases(): readonly PeerJob[] {
  // Others read "[SEP]" in a text as the token of that name, and answer something else to it.
  const texts = goldenEmbeddings.parse(readGolden(EMBEDDING_MODEL)).cases.filter(({ input }) => !SPECIAL.test(input));
  const golden = texts.map(({ input }) => [input]);
  const single = [1, 16, 100, 254].map((tokens) => [makeDocument(tokens)]);
  const batch = Array.from({ length: 32 }, (_, index) => makeDocument(8 + ((index * 104) % 241)));
  return [...golden, ...single, batch].map((inputs): PeerJob => ({ task: 'embedding', inputs }));
}

/** A model answers empty instructions; the protocol refuses them. */
function listGoldenDecisions(): DecisionBody[] {
  const { cases } = goldenDecisions.parse(readGolden(DECISION_MODEL));
  const askable = cases.filter(({ questions }) => questions.every(({ instructions }) => instructions !== ''));
  return askable.map(({ state, questions }) => makeBody(state, questions.map(toWireQuestion)));
}

function toWireQuestion(question: z.infer<typeof goldenQuestion>): WireQuestion {
  const { type, instructions } = question;
  if (type === 'noul') return { type, instructions, criteria: { true: question.true, false: question.false } };
  if (type === 'score') return { type, instructions, criteria: question.levels };
  return { type, instructions, criteria: Object.fromEntries(question.options) };
}

/** Either side of a window, and many of them; several questions of all types. */
function listLengths(): DecisionBody[] {
  const sizes = [1, 30, 128, 253, 254, 255, 512, 1000, 2000, 4000];
  return [
    ...sizes.map((stateTokens) => makeDecision({ stateTokens, questions: 3 })),
    makeDecision({ stateTokens: 700, questions: 12 }),
    makeDecision({ stateTokens: 4000, questions: 8, kind: 'choice' }),
  ];
}

/** From one option to as many as the protocol takes; instructions and options that are longer than a window. */
function listShapes(): DecisionBody[] {
  const counts = [1, 2, 7, 60, 255];
  const long: WireQuestion = { type: 'choice', instructions: makeDocument(600), criteria: makeOptions(3, 300) };
  return [
    ...counts.map((count) => makeBody(makeDocument(40), [makeChoice(makeOptions(count, 6))])),
    ...counts.map((count) => makeBody(makeDocument(4000), [makeChoice(makeOptions(count, 6))])),
    makeBody(makeDocument(300), [long, makeChoice(makeOptions(4, 120))]),
    makeBody('', [makeChoice(makeOptions(4, 3))]),
  ];
}

function makeChoice(criteria: Readonly<Record<string, string>>): WireQuestion {
  return { type: 'choice', instructions: 'Which of these fits the message best?', criteria };
}

/** The last one has no description: its name is its text. */
function makeOptions(count: number, tokens: number): Record<string, string> {
  const entries = Array.from({ length: count }, (_, index) => [
    `option ${index}`,
    index === count - 1 ? '' : makeDocument(tokens),
  ]);
  return Object.fromEntries(entries);
}

function makeBody(state: string, questions: readonly WireQuestion[]): DecisionBody {
  const named = Object.fromEntries(questions.map((question, index) => [`question_${index}`, question]));
  return { model: DECISION_MODEL, state, questions: named };
}

function readGolden(model: string): unknown {
  return JSON.parse(readFileSync(join(ROOT, 'models', model, 'golden.json'), 'utf8'));
}
