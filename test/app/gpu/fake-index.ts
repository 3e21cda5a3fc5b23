// A package index on this machine: a page of links for each package, files with ranges. It can cut them and lie.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FakeIndex {
  /** `http://127.0.0.1:…/simple` */
  readonly address: string;
  /** `GET /files/a.whl`, with `bytes=100-` behind it where a range was asked for. */
  readonly requests: string[];
  /** Of files, handed to connections. */
  sentBytes: number;
  /** The next answers with a file break off after so many bytes. */
  cutAfterBytes: number;
  /** How often. */
  cuts: number;
  close(): Promise<void>;
}

/** @param packages by name: files by name */
export async function startFakeIndex(
  packages: Readonly<Record<string, Readonly<Record<string, Buffer>>>>,
): Promise<FakeIndex> {
  const server = createServer((request, response) => {
    const { url = '', headers } = request;
    index.requests.push(`GET ${url}${headers.range === undefined ? '' : ` ${headers.range}`}`);
    const [, name = ''] = /^\/simple\/([\w-]+)\/$/.exec(url) ?? [];
    const page = packages[name];
    if (page !== undefined) {
      const links = Object.keys(page).map(
        (file) => `<a href="../../files/${file}#sha256=0" data-x="1">${file}</a><br/>`,
      );
      response.end(`<!DOCTYPE html><html><body>${links.join('\n')}</body></html>`);
      return;
    }
    const bytes = Object.values(packages)
      .flatMap((files) => Object.entries(files))
      .find(([file]) => url === `/files/${file}`)?.[1];
    if (bytes === undefined) {
      response.writeHead(404).end();
      return;
    }
    const [, from = '0'] = /^bytes=(\d+)-$/.exec(headers.range ?? '') ?? [];
    const start = Number(from);
    const body = bytes.subarray(start);
    response.writeHead(start > 0 ? 206 : 200, {
      'content-length': body.length,
      ...(start > 0 ? { 'content-range': `bytes ${start}-${bytes.length - 1}/${bytes.length}` } : {}),
    });
    const isCut = index.cuts > 0 && body.length > index.cutAfterBytes;
    const sent = isCut ? body.subarray(0, index.cutAfterBytes) : body;
    index.sentBytes += sent.length;
    if (!isCut) response.end(sent);
    else {
      index.cuts -= 1;
      response.write(sent, () => response.destroy());
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const index: FakeIndex = {
    address: `http://127.0.0.1:${port}/simple`,
    requests: [],
    sentBytes: 0,
    cutAfterBytes: 0,
    cuts: 0,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return index;
}
