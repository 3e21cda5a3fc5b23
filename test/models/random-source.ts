// A small seeded source of random numbers, so that a seed names the same fixtures on every machine. Not for secrets.

export class RandomSource {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** In [0, 1): mulberry32. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `least` to `most`, both possible. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  /** As `whole`, but small numbers come as often as large ones. @param least at least 1 */
  scaled(least: number, most: number): number {
    return Math.min(most, Math.floor(least * ((most + 1) / least) ** this.next()));
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  /** @param items at least one */
  pick<T>(items: readonly T[]): T {
    const item = items[this.whole(0, items.length - 1)];
    if (item === undefined) throw new RangeError('nothing to pick from');
    return item;
  }
}
