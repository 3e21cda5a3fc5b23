// A server that does nothing: reads the body and sends the same answer. Runs as a process of its own, so that the bench can ask
// what its client costs the machine. Listens where PORT says.

import { createServer } from 'node:http';

const ANSWER = JSON.stringify({
  model: 'none',
  answers: { question_0: { type: 'choice', choice: 'billing', probabilities: { billing: 1 }, confidence: 1 } },
  usage: { input_tokens: 0, output_tokens: 0 },
});

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(ANSWER) });
    response.end(ANSWER);
  });
});
server.listen(Number(process.env['PORT']), '127.0.0.1');
