// Statements of one transaction that do not need each other's results travel together: over a network the way there and
// back takes longer than most of them. By itself kysely sends the next one only when the one before has been answered.

import type { Compilable, CompiledQuery, DatabaseConnection, Kysely, Transaction } from 'kysely';
import type { Database } from './schema.ts';

/** A connection on which a statement may travel with the end of the transaction. */
export interface PipelinedConnection extends DatabaseConnection {
  /** The transaction is not committed unless it succeeds, and its failure is that of the commit. */
  sendAlong(query: CompiledQuery): void;
}

/** undefined: a statement that is not needed; its rows are none. */
type Rows<Queries extends readonly (Compilable | undefined)[]> = {
  readonly [Index in keyof Queries]: Queries[Index] extends Compilable<infer Row> | undefined ? readonly Row[] : never;
};

/** @returns the rows of each, in the order of the statements, in which they are also carried out */
export async function sendTogether<const Queries extends readonly (Compilable | undefined)[]>(
  tables: Transaction<Database>,
  queries: Queries,
): Promise<Rows<Queries>> {
  return await withConnection(tables, async (connection) => {
    const sent = queries.map(async (query) => {
      if (query === undefined) return [];
      return (await connection.executeQuery(query.compile())).rows;
    });
    // None may still be under way when the transaction is undone.
    const results = await Promise.allSettled(sent);
    return results.map((result) => {
      if (result.status === 'rejected') throw result.reason;
      return result.value;
    }) as unknown as Rows<Queries>;
  });
}

/** For the last writes of a transaction. They may still be under way when this returns. */
export async function sendWithCommit(tables: Transaction<Database>, queries: readonly Compilable[]): Promise<void> {
  await withConnection(tables, async (connection) => {
    for (const query of queries) {
      if ('sendAlong' in connection) (connection as PipelinedConnection).sendAlong(query.compile());
      else await connection.executeQuery(query.compile());
    }
  });
}

function withConnection<T>(tables: Kysely<Database>, use: (connection: DatabaseConnection) => Promise<T>): Promise<T> {
  return tables.getExecutor().provideConnection(use);
}
