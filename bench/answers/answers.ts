// Replies read in terms that all servers share, and one answer told from another. Token counts are not among them: others count
// differently, or not at all.

import { z } from 'zod';
import type { Job } from '../load/workload.ts';

export type Answer =
  | {
      readonly task: 'decision';
      /** `[questions][options]`, in the order of the request; noul: false, true. */
      readonly probabilities: readonly (readonly number[])[];
    }
  | {
      readonly task: 'embedding';
      /** `[inputs]`, as the server sent them. */
      readonly vectors: readonly Float32Array[];
    };

const answerSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('choice'), choice: z.string(), probabilities: z.record(z.string(), z.number()) }),
  z.object({ type: z.literal('score'), score: z.number(), probabilities: z.record(z.string(), z.number()) }),
  z.object({ type: z.literal('noul'), noul: z.number() }),
]);
const decisionSchema = z.object({ answers: z.record(z.string(), answerSchema) });
const embeddingsSchema = z.object({ data: z.array(z.object({ index: z.int(), embedding: z.base64() })) });
const usageSchema = z.object({
  usage: z.object({ input_tokens: z.int().optional(), prompt_tokens: z.int().optional() }),
});

/** @throws if the reply is not what the job asked for */
export function readAnswer(job: Job, text: string): Answer {
  const reply: unknown = JSON.parse(text);
  return job.task === 'decision' ? readDecision(job.body.questions, reply) : readEmbeddings(job.inputs, reply);
}

/** As our server counts them. */
export function readInputTokens(text: string): number {
  const { usage } = usageSchema.parse(JSON.parse(text));
  return usage.input_tokens ?? usage.prompt_tokens ?? Number.NaN;
}

type Questions = Extract<Job, { task: 'decision' }>['body']['questions'];

function readDecision(questions: Questions, reply: unknown): Answer {
  const { answers } = decisionSchema.parse(reply);
  const probabilities = Object.entries(questions).map(([name, question]) => {
    const answer = answers[name];
    if (answer?.type !== question.type) throw new Error(`The question ${name} has no ${question.type} as its answer.`);
    if (answer.type === 'noul') return [1 - answer.noul, answer.noul];
    const options = Object.keys(question.type === 'noul' ? {} : question.criteria);
    return options.map((option) => answer.probabilities[option] ?? Number.NaN);
  });
  return { task: 'decision', probabilities };
}

function readEmbeddings(inputs: readonly string[], reply: unknown): Answer {
  const { data } = embeddingsSchema.parse(reply);
  const vectors = data.toSorted((a, b) => a.index - b.index).map(({ embedding }) => readVector(embedding));
  if (vectors.length !== inputs.length) throw new Error(`${vectors.length} vectors for ${inputs.length} inputs.`);
  return { task: 'embedding', vectors };
}

/** Little-endian float32, as every platform of the bench has it. */
function readVector(base64: string): Float32Array {
  return new Float32Array(Uint8Array.from(Buffer.from(base64, 'base64')).buffer);
}

/** The largest difference of two probabilities; NaN when there are not as many of them. */
export function differenceOf(expected: Answer, got: Answer): number {
  if (expected.task !== 'decision' || got.task !== 'decision') return Number.NaN;
  const differences = expected.probabilities.flatMap((question, index) => {
    const answer = got.probabilities[index] ?? [];
    if (answer.length !== question.length) return [Number.NaN];
    return question.map((probability, option) => Math.abs(probability - (answer[option] ?? Number.NaN)));
  });
  return Math.max(...differences);
}

/** The smallest cosine of two vectors; NaN when they are not of the same number and length. */
export function smallestCosine(expected: Answer, got: Answer): number {
  if (expected.task !== 'embedding' || got.task !== 'embedding') return Number.NaN;
  const cosines = expected.vectors.map((vector, index) => cosineOf(vector, got.vectors[index] ?? new Float32Array()));
  return Math.min(...cosines);
}

function cosineOf(left: Float32Array, right: Float32Array): number {
  if (left.length !== right.length) return Number.NaN;
  const dot = (a: Float32Array, b: Float32Array): number =>
    a.reduce((total, value, index) => total + value * (b[index] ?? Number.NaN), 0);
  return dot(left, right) / Math.sqrt(dot(left, left) * dot(right, right));
}
