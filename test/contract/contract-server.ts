// The HTTP layer on a real port for official clients, around the fake engine.

import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import type { HttpOptions } from '../../src/http/server.ts';
import { startTestServer, type TestServer } from '../application/test-server.ts';

export interface ContractServer extends TestServer {
  /** `http://…/ai/v1`, for clients of the chat format. */
  readonly chatBaseUrl: string;
  /** `http://…/ai`, for clients of the decision format. */
  readonly decisionBaseUrl: string;
}

export async function startContractServer(options: Partial<HttpOptions> = {}): Promise<ContractServer> {
  const server = await startTestServer(options);
  await server.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = server.app.server.address() as AddressInfo;
  const decisionBaseUrl = `http://127.0.0.1:${port}/ai`;
  return { ...server, decisionBaseUrl, chatBaseUrl: `${decisionBaseUrl}/v1` };
}

/** The version that runs, which an old package manager may have chosen against the lock file. */
export function installedVersion(packageName: string): string {
  const url = new URL(`../../node_modules/${packageName}/package.json`, import.meta.url);
  return (JSON.parse(readFileSync(url, 'utf8')) as { version: string }).version;
}
