// Learned models and their jobs on the wire of the admin routes. Questions and options are told by their hashes and rows by
// their places: no text of a row is kept anywhere.

import { z } from 'zod';
import { toInstant } from '../../domain/instant.ts';
import type { LearnedFigures, MeanAndSpread, MeasuredFigures } from '../../domain/learned-figures.ts';
import type { AdministeredModel } from '../../services/learning/learning.ts';
import {
  LEARNING_FAULTS,
  type LearningFault,
  type LearningJob,
  type LearningReport,
  type ReportedQuestion,
} from '../../services/learning/learning-job.ts';
import { instantReply } from './instant.ts';

const count = z.int().min(0);
const place = count.describe('Place in the request, from 0.');
const sha256 = z.string().meta({ pattern: '^[0-9a-f]{64}$' });

const estimate = z
  .object({
    mean: z.number().describe('Over the folds.'),
    spread: z.number().nullable().describe('Standard deviation between the folds; null: there was one.'),
  })
  .nullable()
  .meta({
    id: 'FoldedFigure',
    description: 'A figure from rows that nothing was fitted on; null: it means nothing here.',
  });

const measured = z
  .object({
    accuracy: estimate.describe('Share of answers whose most probable option is right.'),
    macro_f1: estimate.describe('Mean F1 of the options: rare ones count as much as frequent ones.'),
    ece: estimate.describe('Expected calibration error: lower is better.'),
    answered_at_5: estimate.describe('Share that can be answered with 5 % of errors among them.'),
  })
  .meta({ id: 'LearningMeasures', description: 'What answers are worth, by nested cross-validation.' });

const reportedQuestion = z
  .object({
    type: z.enum(['choice', 'noul', 'score']).describe('The kind of question.'),
    asked: sha256.describe('SHA-256 of what is asked: type, instructions, and criteria but those of a choice.'),
    first_row: count
      .nullable()
      .describe('Place of the first row that asks it; null: only rows of earlier requests do.'),
    verdict: z
      .enum(['learned', 'no_gain', 'too_few_rows', 'one_option_only'])
      .describe('Whether it was learned, or why the base goes on answering it.'),
    rows: count.describe('Rows that ask it, those of earlier requests included.'),
    documents: count.describe('Documents among them that differ.'),
    options: z
      .array(
        z.object({
          hash: sha256.describe('SHA-256 of the option.'),
          rows: z.number().min(0).describe('Rows for which it is right; of a row with shares its share.'),
          is_scarce: z.boolean().describe('So few rows that the base alone decides about it.'),
        }),
      )
      .describe('In the order of their hashes; of a score its levels, of a noul false, then true.'),
    zero_shot: measured.nullable().describe('Of the base alone; null: too few rows to measure.'),
    learned: measured.nullable().describe('Of what was learned; null: too few rows to measure.'),
    learning_curve: z
      .array(
        z.object({
          rows_per_option: count.describe('At most, of those that it was learned from.'),
          rows: count.describe('Of all options.'),
          accuracy: estimate.describe('On rows that nothing was fitted on.'),
        }),
      )
      .describe('Fewest rows first; empty where there are too few.'),
    would_more_help: z.boolean().nullable().describe('Whether the curve still rises; null: it cannot be said.'),
    contradictions: z.array(z.array(place)).describe('Rows of one document that differ in what is right.'),
    suspects: z
      .array(
        z.object({
          row: place,
          labelled: count.describe('What the row says is right: a place in `options`.'),
          likelier: count.describe('What the other rows say.'),
          probability: z.number().min(0).max(1).describe('Of that.'),
        }),
      )
      .describe('Rows that the others contradict most confidently: worth a look.'),
  })
  .meta({ id: 'LearningQuestion', description: 'What learning one question found.' });

const reportSchema = z
  .object({
    skipped: z
      .array(z.object({ row: place, reason: z.string().describe('Why, in words.') }))
      .describe('Rows that the base cannot read.'),
    questions: z.array(reportedQuestion).describe('One for each question that the rows ask.'),
  })
  .meta({ id: 'LearningReport', description: 'What was found before anything was written.' });

const faults = Object.keys(LEARNING_FAULTS) as LearningFault[];
const jobSchema = z
  .object({
    object: z.literal('learning_job').describe('What this is.'),
    id: z.string().describe('Names it in the log and the audit trail.'),
    state: z
      .enum(['running', 'succeeded', 'failed', 'cancelled'])
      .describe('In each but `succeeded` the model that was there stays as it is.'),
    progress: z
      .object({
        step: z
          .enum(['starting', 'reading', 'fitting', 'writing'])
          .describe('The base is loaded; rows become vectors; heads are fitted; the model is written.'),
        done: count.describe('Of the step.'),
        total: count.describe('0: not known yet.'),
      })
      .describe('How far it is, or was when it ended.'),
    base: z.string().nullable().describe('Id of the base; null: that of the model to which rows were added.'),
    embedder: z.boolean().describe("Whether the embedder's vectors are joined to the base's."),
    more: z.boolean().describe('Whether the rows were added to those of the model.'),
    rows: count.describe('Of the request.'),
    started_at: instantReply.describe('When it was ordered.'),
    started_by: z.string().describe('Id of a key.'),
    ended_at: instantReply.nullable().describe('null: it is under way.'),
    digest: z.string().nullable().describe('Of the model that it made; null: none.'),
    error: z
      .object({
        code: z.enum(faults).describe(faults.map((code) => `\`${code}\`: ${LEARNING_FAULTS[code]}`).join(' ')),
        message: z.string().describe('In words, without any text of a row.'),
      })
      .nullable()
      .describe('Why it failed; null: it did not.'),
    report: reportSchema
      .nullable()
      .describe('null: it did not come so far. Lists leave it out: ask for the model by its id.'),
  })
  .meta({ id: 'LearningJob', description: 'The last learning of a model that was ordered from this server.' });

export const administeredModelSchema = z
  .object({
    object: z.literal('learned_model').describe('What this is.'),
    id: z.string().describe('What requests name in `model`.'),
    state: z
      .enum(['served', 'refused', 'absent'])
      .describe('Whether requests are answered by it. `refused`: its folder is no good; `absent`: there is none.'),
    reason: z.string().nullable().describe('Why it is refused; null: it is not.'),
    digest: z.string().nullable().describe('Of what is served; null: nothing is.'),
    job: jobSchema.nullable().describe('null: it was not learned from here.'),
  })
  .meta({ id: 'LearnedModel', description: 'A model learned from labelled rows, or to be.' });

export const administeredModelsSchema = z
  .object({
    object: z.literal('list').describe('What this is.'),
    data: z.array(administeredModelSchema).describe('By id.'),
  })
  .meta({ id: 'LearnedModelList', description: 'Learned models, and those that are being learned.' });

export const removalSchema = z
  .object({
    object: z.literal('learned_model_removal').describe('What this is.'),
    id: z.string().describe('Of the model.'),
    outcome: z
      .enum(['removed', 'cancelled'])
      .describe('`cancelled`: what was under way has ended, and the model that was there stays.'),
  })
  .meta({ id: 'LearnedModelRemoval', description: 'What became of a model.' });

export function toWireAdministered({ id, status, job }: AdministeredModel): z.output<typeof administeredModelSchema> {
  return {
    object: 'learned_model',
    id,
    state: stateOf(status),
    reason: status?.reason ?? null,
    digest: status?.card?.digest ?? null,
    job: job === undefined ? null : toWireJob(job),
  };
}

function stateOf(status: AdministeredModel['status']): 'served' | 'refused' | 'absent' {
  if (status === undefined) return 'absent';
  return status.card === undefined ? 'refused' : 'served';
}

/** Reports are long: a list goes without. */
export function toWireAdministeredList(
  models: readonly AdministeredModel[],
): z.output<typeof administeredModelsSchema> {
  const data = models.map(({ job, ...model }) =>
    toWireAdministered({ ...model, job: job && { ...job, report: null } }),
  );
  return { object: 'list', data };
}

function toWireJob(job: LearningJob): z.output<typeof jobSchema> {
  return {
    object: 'learning_job',
    id: job.id,
    state: job.state,
    progress: { ...job.progress },
    base: job.base,
    embedder: job.usesEmbedder,
    more: job.addsRows,
    rows: job.rows,
    started_at: toInstant(job.startedAtMs),
    started_by: job.startedBy,
    ended_at: toInstant(job.endedAtMs),
    digest: job.digest,
    error: job.error && { ...job.error },
    report: job.report && toWireLearningReport(job.report),
  };
}

function toWireLearningReport({ skipped, questions }: LearningReport): z.output<typeof reportSchema> {
  return { skipped: skipped.map((row) => ({ ...row })), questions: questions.map(toWireQuestion) };
}

function toWireQuestion(question: ReportedQuestion): z.output<typeof reportedQuestion> {
  const { type, asked, firstRow, verdict, rows, documents, options, figures, curve } = question;
  return {
    type,
    asked,
    first_row: firstRow,
    verdict,
    rows,
    documents,
    options: options.map((option) => ({ hash: option.hash, rows: option.rows, is_scarce: option.isScarce })),
    ...toWireFigures(figures),
    learning_curve: curve.map((point) => ({
      rows_per_option: point.rowsPerOption,
      rows: point.rows,
      accuracy: toWireEstimate(point.accuracy),
    })),
    would_more_help: question.wouldMoreHelp,
    contradictions: question.contradictions.map((places) => [...places]),
    suspects: question.suspects.map((suspect) => ({ ...suspect })),
  };
}

type WireMeasures = z.output<typeof measured>;

function toWireFigures(figures: LearnedFigures | null): {
  zero_shot: WireMeasures | null;
  learned: WireMeasures | null;
} {
  if (figures === null) return { zero_shot: null, learned: null };
  return { zero_shot: toWireMeasures(figures.zeroShot), learned: toWireMeasures(figures.learned) };
}

function toWireMeasures({ accuracy, macroF1, ece, answeredAt5 }: MeasuredFigures): WireMeasures {
  return {
    accuracy: toWireEstimate(accuracy),
    macro_f1: toWireEstimate(macroF1),
    ece: toWireEstimate(ece),
    answered_at_5: toWireEstimate(answeredAt5),
  };
}

/** JSON has no NaN, and a journal that was read again none either. */
function toWireEstimate({ mean, spread }: MeanAndSpread): z.output<typeof estimate> {
  return Number.isFinite(mean) ? { mean, spread: Number.isFinite(spread) ? spread : null } : null;
}
