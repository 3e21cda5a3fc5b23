// The `Precompiled` normaliser of SentencePiece models: a double-array trie from UTF-8 to replacements. Does what the
// reference library does, its oddities included: of a cluster below six bytes the shortest match stands for all of it.

import { StartError } from '../start-error.ts';
import { CODE_POINTS } from './code-point-runs.ts';
import { findClusterEnd, standsAlone } from './grapheme-clusters.ts';

/** Longer clusters are read code point by code point. */
const CLUSTER_BYTES = 5;
const KEPT_CLUSTERS = 4096;

/** What is known of a code point alone. */
const Known = { nothing: 0, stays: 1, changes: 2 } as const;

export class Charsmap {
  /** A unit: label in bits 0–7, whether a leaf follows in bit 8, offset in the rest; of a leaf, its value. */
  readonly #units: Uint32Array;
  readonly #replacements: Uint8Array;
  readonly #known = new Uint8Array(CODE_POINTS);
  readonly #changed = new Map<number, string>();
  /** Of clusters of several code points, the last ones that were read; `undefined` where the map has nothing. */
  readonly #clusters = new Map<string, string | undefined>();

  /** @param charsmap as tokenizer.json has it, in base64 @throws StartError when it is cut */
  constructor(charsmap: string) {
    const bytes = Buffer.from(charsmap, 'base64');
    const size = bytes.length < 4 ? Number.POSITIVE_INFINITY : bytes.readUInt32LE(0);
    if (size % 4 !== 0 || 4 + size > bytes.length) throw new StartError('tokenizer.json: precompiled_charsmap is cut');
    this.#units = Uint32Array.from({ length: size / 4 }, (_, unit) => bytes.readUInt32LE(4 + 4 * unit));
    this.#replacements = bytes.subarray(4 + size);
  }

  /** @param text well-formed */
  normalize(text: string): string {
    let normalized = '';
    let [kept, place] = [0, 0];
    while (place < text.length) {
      const codePoint = text.codePointAt(place) ?? 0;
      const next = place + (codePoint > 0xffff ? 2 : 1);
      const isAlone = next >= text.length || standsAlone(codePoint, text.codePointAt(next) ?? 0);
      if (isAlone && this.#knownOf(codePoint) === Known.stays) {
        place = next;
        continue;
      }
      const end = isAlone ? next : findClusterEnd(text, place);
      if (kept < place) normalized += text.slice(kept, place);
      normalized += isAlone ? (this.#changed.get(codePoint) ?? '') : this.#normalizeCluster(text.slice(place, end));
      kept = end;
      place = end;
    }
    return normalized + text.slice(kept);
  }

  #normalizeCluster(cluster: string): string {
    const whole = cluster.length <= CLUSTER_BYTES ? this.#replaceKept(cluster) : undefined;
    if (whole !== undefined) return whole;
    let normalized = '';
    for (const character of cluster) {
      const codePoint = character.codePointAt(0) ?? 0;
      const stays = this.#knownOf(codePoint) === Known.stays;
      normalized += stays ? character : (this.#changed.get(codePoint) ?? character);
    }
    return normalized;
  }

  #replaceKept(cluster: string): string | undefined {
    const kept = this.#clusters.get(cluster);
    if (kept !== undefined || this.#clusters.has(cluster)) return kept;
    if (this.#clusters.size >= KEPT_CLUSTERS) this.#clusters.clear();
    const replacement = this.#replace(cluster);
    this.#clusters.set(cluster, replacement);
    return replacement;
  }

  #knownOf(codePoint: number): number {
    const known = this.#known[codePoint] ?? Known.nothing;
    if (known !== Known.nothing) return known;
    const replacement = this.#replace(String.fromCodePoint(codePoint));
    if (replacement !== undefined) this.#changed.set(codePoint, replacement);
    const found = replacement === undefined ? Known.stays : Known.changes;
    this.#known[codePoint] = found;
    return found;
  }

  /** @returns undefined when it is long, or nothing that the map has begins it */
  #replace(cluster: string): string | undefined {
    const key = Buffer.from(cluster);
    if (key.length > CLUSTER_BYTES) return undefined;
    const start = this.#findShortest(key);
    if (start === undefined) return undefined;
    const end = this.#replacements.indexOf(0, start);
    return Buffer.from(this.#replacements.subarray(start, end < 0 ? undefined : end)).toString();
  }

  /** @returns where the replacement of the shortest prefix begins */
  #findShortest(key: Uint8Array): number | undefined {
    let place = offsetOf(this.#units[0] ?? 0);
    for (const byte of key) {
      if (byte === 0) return undefined;
      place ^= byte;
      const unit = this.#units[place] ?? 0;
      if ((unit & 0x8000_00ff) !== byte) return undefined;
      place ^= offsetOf(unit);
      if ((unit >>> 8) & 1) return (this.#units[place] ?? 0) & 0x7fff_ffff;
    }
    return undefined;
  }
}

function offsetOf(unit: number): number {
  return (unit >>> 10) << ((unit & 0x200) >>> 6);
}
