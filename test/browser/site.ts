// The server that pages come from, as its users run it; with a chat server behind it where a test wants one.

import type { Environment } from '../process/server-process.ts';
import { ServerProcess } from '../process/server-process.ts';
import { type AnswerScript, UpstreamDouble } from '../upstream/upstream-double.ts';

/** The chat model of a site that has one. */
export const CHAT_MODEL = 'chat-test';

export interface SiteOptions {
  /** Of the environment, such as `UMPIRE_MODELS`; port and data folder are set already. */
  readonly settings?: Environment;
  /** How the chat server behind it answers. Absent: there is none. */
  readonly chat?: AnswerScript;
}

export interface Site {
  /** `http://127.0.0.1:…`, no slash at its end */
  readonly address: string;
  /** May do everything, administration included. */
  readonly key: string;
  readonly server: ServerProcess;
  /** Its `answer` may be changed by each test. Throws where there is none. */
  readonly upstream: () => UpstreamDouble;
  close(): Promise<void>;
}

/** Ready to answer. To be closed in `afterAll`. */
export async function startSite({ settings = {}, chat }: SiteOptions = {}): Promise<Site> {
  const upstream = chat && (await UpstreamDouble.start(chat));
  const upstreams = upstream && [{ name: 'test', baseUrl: upstream.baseUrl, models: [{ id: CHAT_MODEL }] }];
  const server = new ServerProcess({
    ...(upstreams === undefined ? {} : { UMPIRE_UPSTREAMS: JSON.stringify(upstreams) }),
    ...settings,
  });
  const address = await server.ready();
  return {
    address,
    key: server.initialKey(),
    server,
    upstream: () => {
      if (upstream === undefined) throw new Error('This site was started without a chat server.');
      return upstream;
    },
    close: async () => {
      await server.dispose();
      await upstream?.close();
    },
  };
}
