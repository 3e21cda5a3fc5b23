// What goes between the server's thread and the thread of the SQLite file. Types only.

export type SqliteValue = string | number | bigint | null | Uint8Array;

export interface SqliteThreadData {
  /** Path of the file, which exists. */
  readonly file: string;
  /** How long a write waits for another process to finish its own. */
  readonly busyTimeoutMs: number;
}

export type SqliteRequest =
  | { readonly type: 'query'; readonly id: number; readonly sql: string; readonly parameters: readonly SqliteValue[] }
  | { readonly type: 'close'; readonly id: number };

export interface SqliteResult {
  readonly rows: readonly Readonly<Record<string, SqliteValue>>[];
  /** Of a statement that answers with no rows. */
  readonly changes: bigint | undefined;
}

export type SqliteReply =
  | { readonly type: 'opened' }
  | { readonly type: 'open-failed'; readonly message: string }
  | { readonly type: 'result'; readonly id: number; readonly result: SqliteResult }
  | { readonly type: 'error'; readonly id: number; readonly message: string };
