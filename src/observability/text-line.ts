// A line of the log for people: time, level, and a request in columns, or a message with its fields. Our own and not
// pino-pretty: secrets are cut out of the finished line, and nothing may be lost at the exit, so the line is made where it
// is written.

type LineStyle = 'dim' | 'red' | 'yellow' | 'green' | 'cyan' | 'bold';
/** Makes words stand out, or gives them back as they are. */
export type LinePaint = (style: LineStyle, text: string) => string;

type LineFields = Readonly<Record<string, unknown>>;

const LEVEL_STYLES: Readonly<Record<string, LineStyle>> = { fatal: 'red', error: 'red', warn: 'yellow', debug: 'dim' };
const TIME = { start: 'YYYY-MM-DDT'.length, end: 'YYYY-MM-DDTHH:MM:SS'.length };
const METHOD_WIDTH = 'DELETE'.length;
/** Of the longest route that answers models, `/ai/v1/chat/completions`. */
const ROUTE_WIDTH = 23;
const DURATION_WIDTH = '99999.9 ms'.length;
const TOKENS_WIDTH = 13;
const COST_WIDTH = '$0.0000012852'.length;
/** Ours: others would be a caller's. */
const REQUEST = 'request';

/** @param line JSON, as the log library writes it */
export function toTextLine(line: string, paint: LinePaint): string {
  const { time, level, msg, err, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const { stack, ...error } = (err ?? {}) as Record<string, unknown>;
  const isRequest = msg === REQUEST && typeof fields['method'] === 'string';
  const told = isRequest ? requestColumns(fields, paint) : [String(msg ?? ''), ...toPairs({ ...fields, ...error })];
  const style = LEVEL_STYLES[String(level)];
  const shown = String(level).padEnd('error'.length);
  const head = `${paint('dim', String(time).slice(TIME.start, TIME.end))} ${style === undefined ? shown : paint(style, shown)}`;
  return `${`${head} ${told.join('  ')}`.trimEnd()}\n${stack === undefined ? '' : `${String(stack)}\n`}`;
}

function requestColumns(fields: LineFields, paint: LinePaint): string[] {
  const { method, route, status, durationMs, model, inputTokens, outputTokens, costUsd, keyId, code, ...others } =
    fields;
  const duration = typeof durationMs === 'number' ? `${durationMs.toFixed(1)} ms` : '';
  const tokens = inputTokens === undefined ? '' : `${String(inputTokens)}+${String(outputTokens)} tokens`;
  return [
    `${paint('bold', String(method).padEnd(METHOD_WIDTH))} ${String(route).padEnd(ROUTE_WIDTH)}`,
    paint(statusStyle(Number(status)), String(status)),
    duration.padStart(DURATION_WIDTH),
    tokens.padStart(TOKENS_WIDTH),
    (costUsd === undefined ? '' : `$${String(costUsd)}`).padEnd(COST_WIDTH),
    ...[model, keyId].flatMap((name) => (name === undefined ? [] : [String(name)])),
    ...(code === undefined ? [] : [paint(statusStyle(Number(status)), String(code))]),
    ...toPairs(others).map((pair) => paint('dim', pair)),
  ];
}

function statusStyle(status: number): LineStyle {
  if (status >= 500) return 'red';
  return status >= 400 ? 'yellow' : 'green';
}

function toPairs(fields: LineFields): string[] {
  return Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
}
