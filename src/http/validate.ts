// Request validation: zod schemas compiled for the framework, and their first problem told as an AppError. Positions
// instead of names, and messages written in the schemas, keep the caller's text out.

import type { FastifySchemaCompiler } from 'fastify';
import type { z } from 'zod';
import { AppError } from '../domain/errors.ts';

export const validatorCompiler: FastifySchemaCompiler<z.ZodType> =
  ({ schema }) =>
  (data) => {
    const result = schema.safeParse(data);
    return result.success ? { value: result.data } : { error: tellFirstIssue(result.error) };
  };

function tellFirstIssue(error: z.ZodError): AppError {
  const issue = error.issues[0];
  if (issue === undefined) return new AppError('invalid_request', 'The request is invalid.');
  const param = formatPath(issue.path);
  return new AppError('invalid_request', issue.message, {
    ...(param === '' ? {} : { param }),
    quotesCaller: issue.code === 'custom' && issue.params?.['quotesCaller'] === true,
  });
}

/** `['questions', 2, 'type']` → `questions[2].type` */
function formatPath(path: readonly PropertyKey[]): string {
  return path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index > 0 ? '.' : ''}${String(part)}`))
    .join('');
}
