// What the card of a repository says of its licence: the head of its README.md, which a hub hands out as data.

import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { isRecord } from '../domain/json.ts';
import type { LocalFile } from './local-files.ts';
import type { RepositoryFacts } from './model-files.ts';

const CARD = 'README.md';
const MAX_CARD_BYTES = 4 * 1024 * 1024;
/** Texts of strangers that end up in a manifest and on terminals. */
const MAX_TEXT = 200;
const MAX_TAGS = 100;

type LicenceFacts = Pick<RepositoryFacts, 'licence' | 'licenceName' | 'licenceLink' | 'tags'>;

/** @param card `cardData` of a hub, or the head of a README.md as data: anything */
export function readCard(card: unknown): LicenceFacts {
  const data = isRecord(card) ? card : {};
  return {
    licence: textOrList(data['license'])?.toLowerCase(),
    licenceName: textOrList(data['license_name']),
    licenceLink: textOrList(data['license_link']),
    tags: readTags(data['tags']),
  };
}

function readTags(tags: unknown): string[] {
  if (!Array.isArray(tags)) return [];
  return tags.flatMap((tag) => plainText(tag) ?? []).slice(0, MAX_TAGS);
}

/** From the README.md among the files; a card that cannot be read says nothing. */
export async function readLocalFacts(files: readonly LocalFile[]): Promise<RepositoryFacts> {
  const file = files.find(({ path, fault }) => path === CARD && fault === undefined);
  const isReadable = file !== undefined && file.bytes <= MAX_CARD_BYTES;
  const text = isReadable ? await readFile(file.realPath, 'utf8') : '';
  return { ...readCard(parseHead(text)), isGated: false, isPrivate: false };
}

/** What stands between the first two lines of `---`. */
function parseHead(text: string): unknown {
  const [, head] = /^\uFEFF?---\r?\n([\s\S]*?)\r?\n---/.exec(text) ?? [];
  if (head === undefined) return undefined;
  try {
    return parse(head, { maxAliasCount: 0 });
  } catch {
    return undefined;
  }
}

function textOrList(value: unknown): string | undefined {
  if (!Array.isArray(value)) return plainText(value);
  return value.flatMap((one) => plainText(one) ?? []).join(' AND ') || undefined;
}

function plainText(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  // Control characters would write on the terminal that shows it.
  const text = value.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  return text.slice(0, MAX_TEXT) || undefined;
}
