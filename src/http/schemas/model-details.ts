// The reply of GET /ai/v1/models/{id}: a model as the list has it and, of a learned one, what it has learned.

import { z } from 'zod';
import { measuredToJson } from '../../domain/learned-figures.ts';
import type { LearnedCard, LearnedQuestionCard, ModelCard } from '../../domain/model-card.ts';
import { modelSchema, toWireModel } from './models-reply.ts';

const figure = z
  .object({
    mean: z.number().nullable().describe('Over the folds of the cross-validation; null: there were no rows for it.'),
    spread: z.number().nullable().describe('Standard deviation between the folds; null: the same.'),
  })
  .meta({ id: 'LearnedFigure', description: 'One figure, from rows that nothing was learned from.' });

const figures = z
  .object({
    accuracy: figure.describe('Share of right answers.'),
    macro_f1: figure.describe('F1 of each option, and the mean of these.'),
    ece: figure.describe('Expected calibration error: how far probabilities are from shares of right answers.'),
    answered_at_5: figure.describe('Share of rows that can be answered with 5 % errors among them.'),
  })
  .meta({ id: 'LearnedFigures', description: 'How well a question is answered, from 0 to 1.' });

const sha256 = z.string().describe('SHA-256, hexadecimal.');

const questionSchema = z
  .object({
    type: z.enum(['choice', 'score', 'noul']).describe('Of the question.'),
    asked: sha256.describe('SHA-256 of type and instructions; `noul` and `score`: of their criteria too.'),
    options: z
      .array(sha256)
      .describe('SHA-256 of each option; `choice`: ascending; `noul`: false, true; `score`: levels in order.'),
    rows: z
      .array(z.number().min(0))
      .describe('Rows that each option was learned from. One with several right answers counts in each by its share.'),
    figures: z
      .object({
        zero_shot: figures.describe('Of the base alone.'),
        learned: figures.describe('As it is answered now.'),
      })
      .describe('What was gained, by cross-validation.'),
  })
  .meta({ id: 'LearnedQuestion', description: 'A question that a head answers. Its texts are nowhere kept.' });

const learnedSchema = z
  .object({
    base: z.string().describe('Id of the model that it stands on, and that answers any other question.'),
    base_digest: z.string().describe('Of the weights that it was learned on.'),
    embedder: z.string().nullable().describe('Id of the embedding model whose vectors it reads besides; null: none.'),
    embedder_digest: z.string().nullable().describe('Of its weights.'),
    questions: z.array(questionSchema).describe('Those that a head answers.'),
  })
  .meta({ id: 'Learned', description: 'What a learned model stands on, and what it has learned.' });

export const modelDetailsSchema = modelSchema
  .extend({ learned: learnedSchema.nullable().describe('Of a learned model; null: it is none.') })
  .meta({ id: 'ModelDetails', description: 'One model, with all that is known of it.' });

export function toWireModelDetails(card: ModelCard): z.output<typeof modelDetailsSchema> {
  return { ...toWireModel(card), learned: card.learned === undefined ? null : toWireLearned(card.learned) };
}

function toWireLearned({ base, embedder, questions }: LearnedCard): z.output<typeof learnedSchema> {
  return {
    base: base.id,
    base_digest: base.digest,
    embedder: embedder?.id ?? null,
    embedder_digest: embedder?.digest ?? null,
    questions: questions.map(toWireQuestion),
  };
}

function toWireQuestion(question: LearnedQuestionCard): z.output<typeof questionSchema> {
  const { type, asked, options, rows } = question;
  const { zeroShot, learned } = question.figures;
  const told = { zero_shot: measuredToJson(zeroShot), learned: measuredToJson(learned) };
  return { type, asked, options: [...options], rows: [...rows], figures: told };
}
