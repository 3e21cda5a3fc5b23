// What a client may do with a server, wherever that is.

export type ReplyHeaders = Readonly<Record<string, string | undefined>>;

export interface WireReply {
  readonly status: number;
  readonly body: string;
  /** Names in small letters. */
  readonly headers: ReplyHeaders;
}

/** A server to ask: somewhere else, or in this process without a port. */
export interface ServerConnection {
  /** @throws when there is no reply */
  post(path: string, body: string, headers?: Readonly<Record<string, string>>): Promise<WireReply>;
  close(): Promise<void>;
}
