// What a test run leaves for the scan at its end: the log of every server it started, and the secrets and callers' texts
// that must not be in one. Each process of the run writes to files of its own in one folder.

import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Traces } from './find-leaks.ts';

/** Shorter ones stand in logs for other reasons. */
const MIN_SECRET_LENGTH = 8;
const BEARER = /^Bearer +(.+?) *$/i;
/** A moment that an administrator names: every line of a log begins with one. */
const TIME = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/;
/** Names of ours, which a log may hold. */
const OPEN_FIELDS: ReadonlySet<string> = new Set(['model']);

export class CollectedLogs {
  readonly #folder: string;
  readonly #secrets = new Set<string>();
  readonly #texts = new Set<string>();
  #logs = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** @returns what appends to the log of one more server */
  openLog(): (text: string) => void {
    const file = join(this.#folder, `${process.pid}-${this.#logs++}.log`);
    return (text) => appendFileSync(file, text);
  }

  keepSecret(secret: string): void {
    // `__proto__` and its like are tried as keys and as request ids, which a log does hold.
    if (secret.length >= MIN_SECRET_LENGTH && !(secret in {})) this.#secrets.add(secret);
  }

  keepAuthorization(header: string | null | undefined): void {
    const token = BEARER.exec(header ?? '')?.[1];
    if (token !== undefined) this.keepSecret(token);
  }

  /** Every name and text of a JSON body; of any other body the whole of it. */
  keepBody(body: string): void {
    let parsed: unknown;
    try {
      parsed = JSON.parse(body);
    } catch {
      parsed = body;
    }
    this.#keepTexts(parsed);
  }

  /** To be called when a test file has ended. */
  flush(): void {
    const traces = { secrets: [...this.#secrets], texts: [...this.#texts] };
    appendFileSync(join(this.#folder, `${process.pid}.traces`), `${JSON.stringify(traces)}\n`);
    this.#secrets.clear();
    this.#texts.clear();
  }

  #keepTexts(value: unknown): void {
    if (typeof value === 'string' && !TIME.test(value)) this.#texts.add(value.slice(0, 64));
    if (typeof value !== 'object' || value === null) return;
    for (const [name, inner] of Object.entries(value)) {
      if (!Array.isArray(value)) this.#keepTexts(name);
      if (!OPEN_FIELDS.has(name)) this.#keepTexts(inner);
    }
  }
}

/** Everything that all processes of the run left in the folder. */
export function readCollected(folder: string): { readonly logs: ReadonlyMap<string, string>; readonly traces: Traces } {
  const names = readdirSync(folder).sort();
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
  const logs = new Map(names.filter((name) => name.endsWith('.log')).map((name) => [name, read(name)]));
  const lines = names.filter((name) => name.endsWith('.traces')).flatMap((name) => read(name).trim().split('\n'));
  const all = lines.map((line) => JSON.parse(line) as { secrets: string[]; texts: string[] });
  const secrets = new Set(all.flatMap((traces) => traces.secrets));
  return { logs, traces: { secrets, texts: new Set(all.flatMap(({ texts }) => texts)) } };
}
