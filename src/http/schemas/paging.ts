// Pages of a list: how many items, and the cursor that a reply hands out for the next request. A cursor is made of what
// ordered the list, so nothing is skipped or told twice while the list grows.

import { z } from 'zod';
import { AppError } from '../../domain/errors.ts';
import type { Page } from '../../domain/page.ts';
import { KEY_ID } from '../../services/keys/keys.ts';
import { queryNumber, queryText } from './strict-fields.ts';

export const limitParameter = queryNumber('limit', { min: 1, max: 1000, byDefault: 100 }).describe(
  'Items of a page. Default: 100.',
);

const NUMBER_CURSOR = /^\d{1,15}$/;
const ROW_CURSOR = /^(\d{1,15})\.([\w-]{1,128})$/;

/** @param pattern what a cursor of this list looks like */
function cursorLike(pattern: RegExp) {
  return queryText('cursor')
    .regex(pattern, badCursorMessage())
    .optional()
    .describe('`next_cursor` of the page before.');
}

/** Of a list whose cursors are numbers. */
export const numberCursor = cursorLike(NUMBER_CURSOR);
/** Of a list of rows of the ledger. */
export const rowCursorParameter = cursorLike(ROW_CURSOR);
/** Of a list of keys. */
export const keyCursor = cursorLike(KEY_ID);

export const nextCursor = z.string().nullable().describe('For the next page; null: this is the last one.');

/** A list of one kind of item. */
export function listOf<Item extends z.ZodType>(
  item: Item,
  meta: { readonly id: string; readonly description: string },
) {
  const shape = {
    object: z.literal('list').describe('What this is.'),
    data: z.array(item).describe('The items of this page.'),
    next_cursor: nextCursor,
  };
  return z.object(shape).meta(meta);
}

/** @throws AppError `invalid_request` */
export function parseNumberCursor(cursor: string): number {
  const number = NUMBER_CURSOR.test(cursor) ? Number(cursor) : Number.NaN;
  if (!Number.isSafeInteger(number)) throw badCursor();
  return number;
}

/** Of a list whose cursors count its items. @throws AppError `invalid_request` */
export function parseOffset(cursor: string | undefined): number {
  return cursor === undefined ? 0 : parseNumberCursor(cursor);
}

/** @throws AppError `invalid_request` */
export function parseRowCursor(cursor: string): { acceptedAtMs: number; id: string } {
  const [, time, id] = ROW_CURSOR.exec(cursor) ?? [];
  if (time === undefined || id === undefined) throw badCursor();
  return { acceptedAtMs: Number(time), id };
}

/** @param cursorOf of the last item of a page */
export function nextCursorOf<Item>({ items, hasMore }: Page<Item>, cursorOf: (last: Item) => string): string | null {
  const last = items.at(-1);
  return hasMore && last !== undefined ? cursorOf(last) : null;
}

export function rowCursor({ acceptedAtMs, id }: { readonly acceptedAtMs: number; readonly id: string }): string {
  return `${acceptedAtMs}.${id}`;
}

function badCursor(): AppError {
  return new AppError('invalid_request', badCursorMessage(), { param: 'cursor' });
}

/** A file is the whole report. @throws AppError `invalid_request` */
export function refusePaging({ cursor }: { readonly cursor?: string | undefined }): void {
  if (cursor === undefined) return;
  throw new AppError('invalid_request', 'A CSV file has no pages.', { param: 'cursor' });
}

function badCursorMessage(): string {
  return "The parameter 'cursor' must be the 'next_cursor' of the page before.";
}
