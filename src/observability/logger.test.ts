// What may and what may not be read in the log.

import { describe, expect, it } from 'vitest';
import { AppError } from '../domain/errors.ts';
import { createLogger, type LoggerOptions } from './logger.ts';

const CONFIGURED = 'a"configured\\key of the house'.replaceAll(' ', '-');
const ISSUED = `ump_${'Ab3d'.repeat(9)}xy`;

function record(options: Partial<LoggerOptions> = {}) {
  const lines: string[] = [];
  const destination = { write: (line: string) => lines.push(line) };
  const logger = createLogger({ level: 'info', format: 'json', secrets: [CONFIGURED], destination, ...options });
  return { logger, lines, text: () => lines.join('') };
}

describe('the log', () => {
  it('is JSON lines with level, time and fields', () => {
    const { logger, lines } = record();
    logger.info({ status: 200, keyId: 'key_1' }, 'request');
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/),
      status: 200,
      keyId: 'key_1',
      msg: 'request',
    });
  });

  it('as text has a line for a message, and lines for the stack of an error', () => {
    const { logger, text } = record({ format: 'text' });
    logger.info({ status: 200, route: '/healthz' }, 'request');
    logger.error({ err: new Error('disk gone') }, 'internal error');
    expect(text()).toMatch(/^\d\d:\d\d:\d\d info {2}request {2}status=200 {2}route=\/healthz$/m);
    expect(text()).toMatch(/^\d\d:\d\d:\d\d error internal error {2}type=Error {2}message=disk gone$/m);
    expect(text()).toMatch(/^\s+at .*logger\.test\.ts/m);
  });

  const REQUEST = {
    method: 'POST',
    route: '/ai/v1/systemone',
    status: 200,
    durationMs: 24.34,
    model: 'kev',
    inputTokens: 34,
    outputTokens: 0,
    costUsd: '0.0000012852',
    keyId: 'key_a',
  };

  it('as text has a request in columns, one below the other', () => {
    const { logger, lines } = record({ format: 'text' });
    logger.info(REQUEST, 'request');
    logger.info(
      { method: 'GET', route: '/ai/v1/models', status: 401, durationMs: 1, code: 'invalid_api_key' },
      'request',
    );
    const [answered = '', refused = ''] = lines.map((line) => line.slice('12:46:03 '.length).trimEnd());
    expect(answered).toBe(
      'info  POST   /ai/v1/systemone         200     24.3 ms    34+0 tokens  $0.0000012852  kev  key_a',
    );
    expect(refused).toMatch(/^info {2}GET {4}\/ai\/v1\/models {12}401 {6}1\.0 ms .*invalid_api_key$/);
    expect(refused.indexOf('ms')).toBe(answered.indexOf('ms'));
  });

  it('as text is painted by what a status means, and plain where no paint is given', () => {
    const { logger, lines } = record({ format: 'text', paint: (style, text) => `<${style}>${text}</>` });
    for (const status of [200, 404, 503]) logger.info({ ...REQUEST, status }, 'request');
    expect(lines.map((line) => /<(\w+)>(?:200|404|503)<\/>/.exec(line)?.[1])).toEqual(['green', 'yellow', 'red']);
    logger.error('disk gone');
    expect(lines.at(-1)).toMatch(/^<dim>[\d:]{8}<\/> <red>error<\/> disk gone\n$/);
  });

  it('as text shows no field of a request that holds a text', () => {
    const { logger, text } = record({ format: 'text' });
    logger.info({ ...REQUEST, state: 'the patient', input: 'is called Jane' }, 'request');
    expect(text()).not.toMatch(/patient|Jane/);
  });

  it('leaves out what is less serious than its level', () => {
    const { logger, lines } = record({ level: 'warn' });
    logger.info('chatter');
    expect(lines).toEqual([]);
  });
});

describe('a key', () => {
  it.each(['json', 'text'] as const)('never gets into the log, wherever it stands (%s)', (format) => {
    const { logger, text } = record({ format });
    logger.info(
      { url: `/x?key=${ISSUED}`, deep: { deeper: { note: `is ${CONFIGURED}` } } },
      `with ${ISSUED} and ${CONFIGURED}`,
    );
    logger.child({ requestId: ISSUED }).error({ err: new Error(`refused ${CONFIGURED}`) }, 'failed');
    expect(text()).not.toContain(ISSUED);
    expect(text()).not.toContain('configured');
    expect(text()).toContain('[redacted]');
  });

  it.each(['authorization', 'headers', 'body', 'secret', 'apiKey', 'state', 'questions', 'messages', 'input'])(
    'stands nowhere, nor does a text, under %s, here, in an object, nor in what every line has',
    (name) => {
      const { logger, text } = record();
      logger.info({ [name]: 'unmasked', outer: { [name]: 'unmasked', other: 'shown' } }, 'an object');
      logger.child({ [name]: 'unmasked' }).info('a child');
      expect(text()).not.toContain('unmasked');
      expect(text()).toContain('shown');
    },
  );

  it('is not logged with the headers of a request, nor with its query', () => {
    const { logger, text } = record();
    const headers = { authorization: 'Bearer some-foreign-key', cookie: 'session' };
    logger.info({ req: { method: 'POST', url: '/ai/v1/models?api_key=some-foreign-key', headers } }, 'request');
    logger.info({ headers, request: { headers, authorization: 'some-foreign-key' } }, 'whole objects');
    expect(text()).not.toContain('some-foreign-key');
    expect(text()).toContain('"req":{"method":"POST","path":"/ai/v1/models"}');
  });
});

describe('text of a caller', () => {
  const SECRET_TEXT = 'the patient is called Jane';

  it('in the message of an error that quotes it is left out, with the first lines of its stack', () => {
    const { logger, text } = record();
    const error = new AppError('invalid_request', `question "${SECRET_TEXT}" has no instructions`, {
      quotesCaller: true,
    });
    logger.warn({ err: error }, 'refused');
    logger.error({ err: new Error('outer', { cause: error }) }, 'wrapped');
    expect(text()).not.toContain(SECRET_TEXT);
    expect(text()).toContain('"code":"invalid_request"');
  });

  it('quoted by a parser is left out', () => {
    const { logger, text } = record();
    try {
      JSON.parse(SECRET_TEXT);
    } catch (error) {
      logger.error({ err: error }, 'internal error');
    }
    expect(text()).toContain('"type":"SyntaxError"');
    expect(text()).not.toContain('patient');
  });

  it('in a body that somebody logs by mistake is redacted', () => {
    const { logger, text } = record();
    logger.info(
      { body: { state: SECRET_TEXT }, request: { body: SECRET_TEXT, questions: { [SECRET_TEXT]: 1 } } },
      'oops',
    );
    expect(text()).not.toContain(SECRET_TEXT);
  });

  it('does not come back through causes that form a ring', () => {
    const { logger, lines } = record();
    const error = new Error('outer');
    error.cause = error;
    logger.error({ err: error }, 'ring');
    logger.error({ cause: error }, 'ring');
    expect(lines).toHaveLength(2);
  });
});
