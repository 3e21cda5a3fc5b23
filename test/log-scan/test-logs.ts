// The collection of the process that runs a test file. Loaded before each test file, it also keeps what tests send
// through `fetch`, as all official clients do.

import { afterAll, inject } from 'vitest';
import { CollectedLogs } from './collected-logs.ts';

export const testLogs = new CollectedLogs(inject('logFolder'));

const send = globalThis.fetch;

globalThis.fetch = async (input, init) => {
  const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : {}));
  testLogs.keepAuthorization(headers.get('authorization'));
  if (typeof init?.body === 'string') testLogs.keepBody(init.body);
  return await send(input, init);
};

afterAll(() => testLogs.flush());
