// A report as CSV: who asked for it, and a reply that is written page by page, as fast as the client takes it.

import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type CsvCell, renderCsv } from '../domain/csv.ts';

export type ReportFormat = 'json' | 'csv';

export type CsvRow = readonly CsvCell[];

export interface CsvReport {
  /** Of the file, without ending. */
  readonly name: string;
  readonly heading: readonly string[];
  readonly pages: AsyncGenerator<readonly CsvRow[]>;
}

/** `format` in the query, otherwise `Accept`. */
export function wantsCsv(request: FastifyRequest, format: ReportFormat | undefined): boolean {
  return format === undefined ? /\btext\/csv\b/i.test(request.headers.accept ?? '') : format === 'csv';
}

/** The first page is read before the head is sent: until then a failure is a status of its own. */
export async function sendCsv(reply: FastifyReply, { name, heading, pages }: CsvReport): Promise<FastifyReply> {
  const first = await pages.next();
  async function* lines(): AsyncGenerator<string> {
    yield renderCsv([heading]);
    if (first.done === true) return;
    yield renderCsv(first.value);
    for await (const rows of pages) yield renderCsv(rows);
  }
  return reply
    .type('text/csv; charset=utf-8')
    .header('content-disposition', `attachment; filename="${name}.csv"`)
    .send(Readable.from(lines()));
}
