// What POST /admin/v1/models takes: the id of a model and labelled rows. Rows are shown here and checked by the service, in
// turns: there may be thousands of them.

import { z } from 'zod';
import type { NewLearning } from '../../services/learning/learning.ts';
import { questionSchema } from './decision-request.ts';
import { refersTo } from './named-schema.ts';
import { strictFields } from './strict-fields.ts';

const MODEL_ID = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const ID_RULE =
  "The field 'id' must have 1 to 64 lower-case letters, digits, dots, hyphens and underscores, and begin with a letter or digit.";
const ROWS = "The field 'rows' must be an array of at least one labelled row.";
const FLAG = (name: string) => `The field '${name}' must be true or false.`;

const byName = (description: string) => ({ type: 'object', additionalProperties: true, description });
const labelledQuestions = {
  type: 'object',
  additionalProperties: {
    allOf: [refersTo(questionSchema)],
    type: 'object',
    properties: {
      gold: { description: 'What is right: the name of an option, the number of a level, true or false.' },
      soft: byName('Instead of `gold`: the share of each option.'),
    },
  },
};
const labelledRow = z.unknown().meta({
  id: 'LabelledRow',
  type: 'object',
  description: 'A document, questions about it, and what is right. The same as a line of a labelled file.',
  required: ['state'],
  properties: {
    state: { type: 'string', description: 'The document.' },
    questions: { ...labelledQuestions, description: 'Its own questions, by name, each with what is right.' },
    gold: byName('What is right, by names of the questions that all rows share.'),
    soft: byName('The same as shares of the options.'),
  },
});

export const newModelSchema = strictFields('body', {
  id: z.string(ID_RULE).regex(MODEL_ID, ID_RULE).describe('What requests will name in `model`.'),
  model: z
    .string("The field 'model' must be a string.")
    .optional()
    .describe(
      'The base: id of a decision model of this server. Default: `kev`; where rows are added, the base that the model has.',
    ),
  embedder: z
    .boolean(FLAG('embedder'))
    .default(false)
    .describe("Whether the vectors of the shipped embedder are joined to the base's: slower, mostly better."),
  more: z
    .boolean(FLAG('more'))
    .default(false)
    .describe('Whether the rows are added to those of the model. Otherwise it is learned from these alone.'),
  questions: z
    .record(z.string(), z.unknown(), "The field 'questions' must be an object.")
    .optional()
    .meta({
      type: 'object',
      additionalProperties: refersTo(questionSchema),
      description: 'Questions that all rows share, by name; rows then have `gold`.',
    }),
  rows: z
    .array(z.unknown(), ROWS)
    .min(1, ROWS)
    .meta({ items: refersTo(labelledRow), description: 'Labelled rows, in their natural proportion.' }),
}).meta({ id: 'NewModel', description: 'A model to learn from labelled rows.' });

export const newModelExample = {
  id: 'support',
  model: 'kev',
  questions: {
    team: {
      type: 'choice',
      instructions: 'Which team should handle this?',
      criteria: { billing: null, technical: null },
    },
  },
  rows: [
    { state: 'I was charged twice for my last order.', gold: { team: 'billing' } },
    { state: 'The app closes when I open a photo.', gold: { team: 'technical' } },
  ],
};

/** @param base own id of the base; undefined: that of the model to which rows are added */
export function toNewLearning(body: z.output<typeof newModelSchema>, base: string | undefined): NewLearning {
  const { id, embedder, more, questions, rows } = body;
  return { modelId: id, base, usesEmbedder: embedder, addsRows: more, questions, rows };
}
