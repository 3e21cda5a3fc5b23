// The body of POST /ai/v1/systemone, and its way into the domain. Fields stand in the order in which they are checked.

import { z } from 'zod';
import { type NamedQuestion, QUESTION_LIMITS, type Question } from '../../domain/question.ts';
import type { DecisionRequest } from '../../services/inference/inference.ts';
import { modelField } from './model-field.ts';
import { discriminator, refersTo } from './named-schema.ts';
import { orderedObject, orderedRecord, pick } from './ordered-schema.ts';
import { findTextOfParts } from './state-parts.ts';

const { questions, choiceOptions, scoreLevels, nameLength } = QUESTION_LIMITS;
const thousands = (count: number) => count.toLocaleString('en-US');
const NAME_TOO_LONG = `A name may have at most ${thousands(nameLength)} characters.`;

const instructions = z
  .string("The field 'instructions' must be a string.")
  .min(1, "The field 'instructions' must not be empty.")
  .describe('What is asked of the state.');

const description = z
  .union([z.string(), z.null()], 'A description must be a string or null.')
  .describe('What it means, in words; null: its name says it.');

const CHOICE_MESSAGE = [
  "The 'criteria' of a choice must be an object with at least one option, each with what it means or null,",
  'such as {"billing": "payments, refunds", "other": null}.',
].join(' ');
const choiceCriteria = orderedRecord(description, {
  ...choiceOptions,
  maxNameLength: nameLength,
  emptyMessage: CHOICE_MESSAGE,
  tooManyMessage: `A choice takes at most ${choiceOptions.max} options.`,
  nameMessage: NAME_TOO_LONG,
}).describe('The options by name, each with what it means. Their order never changes the answer.');

const LEVELS_MESSAGE = [
  `The 'criteria' of a score must be an array of ${scoreLevels.min} to ${scoreLevels.max} strings, lowest level first,`,
  'such as ["calm", "annoyed", "angry"].',
].join(' ');
const scoreCriteria = z
  .array(z.string('A level must be a string.'), LEVELS_MESSAGE)
  .min(scoreLevels.min, LEVELS_MESSAGE)
  .max(scoreLevels.max, LEVELS_MESSAGE)
  .describe('What each level means, lowest first.');

const noulCriteria = orderedObject(
  { true: description.optional(), false: description.optional() },
  [
    "The 'criteria' of a noul must be an object with 'true' and 'false', either of which may be missing,",
    'such as {"true": "a refund is asked for"}.',
  ].join(' '),
).meta({ id: 'NoulCriteria', description: 'What yes and no mean, where the instructions leave it open.' });

const isPlainObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
const TYPE_MESSAGE = 'The field \'type\' must be "choice", "score" or "noul".';
const typeOf = <Type extends string>(type: Type) => z.literal(type).describe('The kind of question.');
const QUESTION_MESSAGE = 'A question must be an object, such as {"type": "noul", "instructions": "Is it urgent?"}.';
export const questionSchema = z
  .preprocess(
    (input) => pick(input, ['type', 'instructions', 'criteria']),
    z.discriminatedUnion(
      'type',
      [
        z
          .object({ type: typeOf('choice'), instructions, criteria: choiceCriteria })
          .meta({ id: 'ChoiceQuestion', description: 'Which of the options fits the state?' }),
        z
          .object({ type: typeOf('score'), instructions, criteria: scoreCriteria })
          .meta({ id: 'ScoreQuestion', description: 'Which level does the state reach?' }),
        z
          .object({ type: typeOf('noul'), instructions, criteria: noulCriteria.nullish() })
          .meta({ id: 'NoulQuestion', description: 'Yes or no?' }),
      ],
      { error: (issue) => (isPlainObject(issue.input) ? TYPE_MESSAGE : QUESTION_MESSAGE) },
    ),
  )
  .meta({
    id: 'Question',
    description: 'One thing asked of the state; `type` says of which kind.',
    discriminator: discriminator({
      choice: 'ChoiceQuestionInput',
      score: 'ScoreQuestionInput',
      noul: 'NoulQuestionInput',
    }),
  });

const questionsSchema = orderedRecord(questionSchema, {
  ...questions,
  maxNameLength: nameLength,
  emptyMessage: "The field 'questions' must be a non-empty object.",
  tooManyMessage: `A request takes at most ${thousands(questions.max)} questions.`,
  nameMessage: NAME_TOO_LONG,
  findProblem: ({ name, value }) => {
    const isObject = value instanceof Map;
    const given = isObject ? value.get('instructions') : undefined;
    return isObject && (typeof given !== 'string' || given === '')
      ? `question "${name}" has no instructions`
      : undefined;
  },
});

/** Described here, read by `findTextOfParts`. */
const textPart = z
  .object({
    type: z.literal('text').describe('The only kind of part there is.'),
    text: z.string().describe('A part of the document.'),
  })
  .meta({ id: 'TextPart', description: 'A part of a document, as newer clients send one.' });

const stateField = z
  .unknown()
  .transform((input, context): string => {
    const text = typeof input === 'string' ? input : findTextOfParts(input);
    if (text !== undefined) return text;
    context.addIssue({ code: 'custom', message: "The field 'state' must be a string." });
    return z.NEVER;
  })
  .meta({
    anyOf: [{ type: 'string' }, { type: 'array', minItems: 1, items: refersTo(textPart) }],
    description:
      'The document to read: a text, or a list of text parts, which is read as its texts joined by a newline.',
  });

export const decisionRequestSchema = orderedObject(
  {
    model: modelField.describe('Id of a model of type `decision`.'),
    state: stateField,
    questions: questionsSchema.describe('The questions, by name. Names are any text; the model never sees them.'),
  },
  'The body must be a JSON object.',
).meta({ id: 'DecisionRequest', description: 'A document and questions about it.' });

export const decisionRequestExample = {
  model: 'kev',
  state: 'I was charged twice for my last order.',
  questions: {
    department: {
      type: 'choice',
      instructions: 'Which team should handle this?',
      criteria: { billing: 'payments, refunds', technical: 'bugs, outages' },
    },
  },
};

type WireRequest = z.output<typeof decisionRequestSchema>;
type WireQuestion = z.output<typeof questionSchema>;

export function toDecisionRequest(body: WireRequest): DecisionRequest {
  const named = body.questions.map(({ name, value }): NamedQuestion => ({ name, question: toDomainQuestion(value) }));
  return { modelId: body.model, state: body.state, questions: named };
}

function toDomainQuestion(wire: WireQuestion): Question {
  const { instructions } = wire;
  switch (wire.type) {
    case 'choice': {
      const options = wire.criteria.map(({ name, value }) => ({ name, description: value }));
      return { type: 'choice', instructions, options };
    }
    case 'score':
      return { type: 'score', instructions, levels: wire.criteria };
    case 'noul':
      return {
        type: 'noul',
        instructions,
        whenFalse: wire.criteria?.false ?? null,
        whenTrue: wire.criteria?.true ?? null,
      };
  }
}
