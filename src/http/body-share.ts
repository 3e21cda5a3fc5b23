// One limit on the memory of bodies: what is held of it, what waits for it, and how fast it becomes free.

/** Two such windows are looked at: the one that runs, and the one before it. */
const WINDOW_MS = 2500;
/** Nothing became free lately, so nothing is known. */
const UNKNOWN_WAIT_MS = 5000;

export class Share {
  readonly limitBytes: number;
  #heldBytes = 0;
  #waiting = 0;
  #waitingBytes = 0;
  #windowStartMs = Number.NEGATIVE_INFINITY;
  #freedNowBytes = 0;
  #freedBeforeBytes = 0;

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /**
   * A body that is alone fits, whatever its size: otherwise it never would.
   * @param ownBytes what it holds already
   */
  fits(ownBytes: number, bytes: number, keptFreeBytes = 0): boolean {
    return this.#heldBytes <= ownBytes || this.#heldBytes + bytes <= this.limitBytes - keptFreeBytes;
  }

  take(bytes: number): void {
    this.#heldBytes += bytes;
  }

  giveBack(bytes: number, nowMs: number): void {
    this.#heldBytes -= bytes;
    this.#advance(nowMs);
    this.#freedNowBytes += bytes;
  }

  startWaiting(bytes: number): void {
    this.#waiting += 1;
    this.#waitingBytes += bytes;
  }

  stopWaiting(bytes: number): void {
    this.#waiting -= 1;
    this.#waitingBytes -= bytes;
  }

  /**
   * Until so much more may fit, if room goes on becoming free as it did lately.
   * @param longestWaitMs after which those who wait now have come in or were refused: they stand in nobody's way any more
   */
  waitMs(bytes: number, { nowMs, longestWaitMs }: { readonly nowMs: number; readonly longestWaitMs: number }): number {
    this.#advance(nowMs);
    const missingBytes = this.#heldBytes + bytes - this.limitBytes;
    const behindAllMs = this.#untilFreeMs(missingBytes + this.#waitingBytes, nowMs);
    return Math.max(this.#untilFreeMs(missingBytes, nowMs), Math.min(longestWaitMs, behindAllMs));
  }

  #untilFreeMs(missingBytes: number, nowMs: number): number {
    if (missingBytes <= 0) return 0;
    const freedBytes = this.#freedNowBytes + this.#freedBeforeBytes;
    if (freedBytes === 0) return UNKNOWN_WAIT_MS;
    return (missingBytes * (WINDOW_MS + nowMs - this.#windowStartMs)) / freedBytes;
  }

  #advance(nowMs: number): void {
    const elapsedMs = nowMs - this.#windowStartMs;
    if (elapsedMs < WINDOW_MS) return;
    this.#freedBeforeBytes = elapsedMs < 2 * WINDOW_MS ? this.#freedNowBytes : 0;
    this.#freedNowBytes = 0;
    this.#windowStartMs = nowMs;
  }
}
