// Requests and replies as all peers speak them: `systemone` for decisions, OpenAI's embeddings with vectors in base64.

import { z } from 'zod';
import type { PeerAnswer, PeerJob, PeerRequest } from '../servers/peer.ts';
import { DECISION_MODEL, EMBEDDING_MODEL } from './workload.ts';

const answerSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('choice'), choice: z.string(), probabilities: z.record(z.string(), z.number()) }),
  z.object({ type: z.literal('score'), score: z.number(), probabilities: z.record(z.string(), z.number()) }),
  z.object({ type: z.literal('noul'), noul: z.number() }),
]);
const decisionSchema = z.object({ answers: z.record(z.string(), answerSchema) });
const embeddingsSchema = z.object({ data: z.array(z.object({ index: z.int(), embedding: z.base64() })) });

type DecisionJob = Extract<PeerJob, { task: 'decision' }>;
type EmbeddingJob = Extract<PeerJob, { task: 'embedding' }>;

export function requestFor(job: PeerJob): PeerRequest {
  if (job.task === 'decision') {
    return { path: '/ai/v1/systemone', body: JSON.stringify({ ...job.body, model: DECISION_MODEL }) };
  }
  const body = { model: EMBEDDING_MODEL, input: job.inputs, encoding_format: 'base64' };
  return { path: '/ai/v1/embeddings', body: JSON.stringify(body) };
}

/** @throws if the reply is not what the job asked for */
export function readAnswer(job: PeerJob, text: string): PeerAnswer {
  const reply: unknown = JSON.parse(text);
  return job.task === 'decision' ? readDecision(job, reply) : readEmbeddings(job, reply);
}

function readDecision({ body }: DecisionJob, reply: unknown): PeerAnswer {
  const { answers } = decisionSchema.parse(reply);
  const probabilities = Object.entries(body.questions).map(([name, question]) => {
    const answer = answers[name];
    if (answer?.type !== question.type) throw new Error(`The question ${name} has no ${question.type} as its answer.`);
    if (answer.type === 'noul') return [1 - answer.noul, answer.noul];
    const options = Object.keys(question.type === 'noul' ? {} : question.criteria);
    return options.map((option) => answer.probabilities[option] ?? Number.NaN);
  });
  return { task: 'decision', probabilities };
}

function readEmbeddings({ inputs }: EmbeddingJob, reply: unknown): PeerAnswer {
  const { data } = embeddingsSchema.parse(reply);
  const vectors = data.toSorted((a, b) => a.index - b.index).map(({ embedding }) => readVector(embedding));
  if (vectors.length !== inputs.length) throw new Error(`${vectors.length} vectors for ${inputs.length} inputs.`);
  return { task: 'embedding', vectors };
}

/** Little-endian float32, as every platform of the bench has it. */
function readVector(base64: string): Float32Array {
  const bytes = Uint8Array.from(Buffer.from(base64, 'base64'));
  return new Float32Array(bytes.buffer);
}
