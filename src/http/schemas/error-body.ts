// The one error body, as documentation. error-reply.ts writes it.

import { z } from 'zod';
import { type ErrorCode, errorCatalogue } from '../../domain/errors.ts';

const codes = Object.keys(errorCatalogue) as [ErrorCode, ...ErrorCode[]];
const types = [...new Set(Object.values(errorCatalogue).map((entry) => entry.type))];

const errorDetails = z
  .object({
    message: z.string().describe('What is wrong, for people.'),
    type: z.enum(types).describe('The kind of error, in the words of the chat format.'),
    param: z.string().nullable().describe('The field, by position: `questions[2].type`.'),
    code: z.enum(codes).describe('What is wrong, for programs. Codes are never renamed.'),
  })
  .meta({ id: 'ErrorDetails', description: 'What went wrong.' });

export const errorBodySchema = z
  .object({ error: errorDetails })
  .meta({ id: 'Error', description: 'Every error of every route.' });
