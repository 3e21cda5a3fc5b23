// Looks for secrets and callers' texts in logs. Pure. Texts are told by their beginning, so that a log that cuts them
// is caught too.

export interface Traces {
  readonly secrets: ReadonlySet<string>;
  readonly texts: ReadonlySet<string>;
}

/** Of a text; shorter texts are words that a log may hold for other reasons. */
const WINDOW = 12;
/** `aaaaaaaaaaaa` is no text that could be told from a digest. */
const MIN_DISTINCT = 5;
const ISSUED_KEY = /ump_[0-9A-Za-z]{38}/g;
/** What the logger puts in the place of a secret: something tried to log one. */
const MASK = '[redacted]';

/** @param logs name → content. @returns a line for each leak, empty when there is none */
export function findLeaks(logs: ReadonlyMap<string, string>, { secrets, texts }: Traces): string[] {
  const beginnings = new Set([...texts].flatMap(beginningsOf));
  return [...logs].flatMap(([name, log]) => [
    ...[...secrets].filter((secret) => log.includes(secret)).map((secret) => `${name}: the secret ${secret}`),
    ...(log.match(ISSUED_KEY) ?? []).map((key) => `${name}: the key ${key}`),
    ...(log.includes(MASK) ? [`${name}: a secret that the logger had to cut out`] : []),
    ...findTexts(log, beginnings).map((text) => `${name}: the text ${JSON.stringify(text)}`),
  ]);
}

/** As it is, and as it looks inside a JSON string. */
function beginningsOf(text: string): string[] {
  const beginnings = [text, JSON.stringify(text).slice(1, -1)].map((form) => form.slice(0, WINDOW));
  return beginnings.filter((beginning) => beginning.length === WINDOW && new Set(beginning).size >= MIN_DISTINCT);
}

function findTexts(log: string, beginnings: ReadonlySet<string>): string[] {
  const found = new Map<string, string>();
  for (let at = 0; at + WINDOW <= log.length; at++) {
    const window = log.slice(at, at + WINDOW);
    if (beginnings.has(window)) found.set(window, log.slice(at, at + 3 * WINDOW));
  }
  return [...found.values()];
}
