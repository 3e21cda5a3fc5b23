// A refusal: a caller's mistake, never a failure of the server, in the one error shape, with a code of the catalogue.

import { expect } from 'vitest';
import { errorCatalogue } from '../../src/domain/errors.ts';
import { errorBodySchema } from '../../src/http/schemas/error-body.ts';

export function expectRefusal(status: number, replyText: string): void {
  expect(status).toBeGreaterThanOrEqual(400);
  expect(status).toBeLessThan(500);
  const body = errorBodySchema.safeParse(JSON.parse(replyText));
  expect(body.error).toBeUndefined();
  expect(errorCatalogue).toHaveProperty(body.data?.error.code ?? '');
}
