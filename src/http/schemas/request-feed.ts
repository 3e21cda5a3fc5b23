// The feed of requests on the wire: rows of the ledger as they are written, and the cursor with which a reader goes on.

import { z } from 'zod';
import { AppError } from '../../domain/errors.ts';
import type { EndedPlace } from '../../domain/usage-report.ts';
import type { FeedPage } from '../../services/reports/reports.ts';
import { ledgerRowSchema, toWireRow } from './ledger-row.ts';
import { limitParameter } from './paging.ts';
import { queryText, strictFields } from './strict-fields.ts';

const CURSOR = /^(\d{1,15})\.([\w-]{0,128})$/;
const BAD_CURSOR = "The parameter 'cursor' must be the 'next_cursor' of the reading before.";

export const feedQuery = strictFields('query', {
  limit: limitParameter,
  cursor: queryText('cursor')
    .regex(CURSOR, BAD_CURSOR)
    .optional()
    .describe('`next_cursor` of the reading before. Default: the last requests that ended.'),
});

export const requestFeedSchema = z
  .object({
    object: z.literal('request_feed').describe('What this is.'),
    data: z.array(ledgerRowSchema).describe('Those that ended last come last.'),
    next_cursor: z.string().describe('For the next reading, now or later.'),
    has_more: z.boolean().describe('Whether there are more already: read on at once.'),
    has_gap: z
      .boolean()
      .describe('Whether the cursor was older than an hour: what ended before that was left out, and is in the list.'),
  })
  .meta({ id: 'RequestFeed', description: 'Requests in the order in which they ended.' });

/** @throws AppError `invalid_request` */
export function parseFeedCursor(cursor: string): EndedPlace {
  const [, time, id] = CURSOR.exec(cursor) ?? [];
  if (time === undefined || id === undefined) throw new AppError('invalid_request', BAD_CURSOR, { param: 'cursor' });
  return { endedAtMs: Number(time), id };
}

export function toWireFeed({ items, next, hasMore, hasGap }: FeedPage): z.output<typeof requestFeedSchema> {
  return {
    object: 'request_feed',
    data: items.map(toWireRow),
    next_cursor: `${next.endedAtMs}.${next.id}`,
    has_more: hasMore,
    has_gap: hasGap,
  };
}
