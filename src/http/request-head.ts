// What the head of every request must say, whatever its route: one Host, and no expectation that nobody here can meet.
// Node would answer both itself, without a body.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { AppError } from '../domain/errors.ts';

/** A name or an address, with a port or without. */
const HOST = /^(?:[\w.~!$&'()*+,;=%-]*|\[[\dA-Fa-f:.]+\])(?::\d*)?$/;
/** As Node reads it: what it answers by itself. */
const CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i;

/** The hook throws AppError `invalid_request`, `expectation_failed`. */
export function checkRequestHeads(app: FastifyInstance): void {
  // With a listener Node leaves the refusal to us. The hook below words it, and the request is seen like any other.
  app.server.on('checkExpectation', (request: IncomingMessage, reply: ServerResponse) => {
    app.server.emit('request', request, reply);
  });
  app.addHook('onRequest', (request, _reply, done) => {
    // An older client may leave both out, and means nothing by either.
    if (request.raw.httpVersion === '1.1') {
      checkHost(request.raw);
      checkExpectation(request.headers.expect);
    }
    done();
  });
}

function checkHost({ rawHeaders }: IncomingMessage): void {
  // Of several Node keeps the first. A proxy before us may have gone by the last.
  let hosts = 0;
  let isSane = true;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length !== 4 || name.toLowerCase() !== 'host') continue;
    hosts += 1;
    isSane &&= HOST.test(rawHeaders[at + 1] ?? '');
  }
  if (hosts === 1 && isSane) return;
  throw new AppError('invalid_request', 'The request must have one Host header, with a name or an address.', {
    param: 'Host',
  });
}

function checkExpectation(expect: string | undefined): void {
  if (expect === undefined || CONTINUE.test(expect)) return;
  throw new AppError('expectation_failed', 'The header \'Expect\' takes "100-continue" only.', { param: 'Expect' });
}
