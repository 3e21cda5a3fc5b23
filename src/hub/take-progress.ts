// How far the taking of files is, and how fast: reported some times a second, by the rate of the last seconds.

import type { TakeProgress } from './model-files.ts';

const REPORT_MS = 100;
const WINDOW_MS = 10_000;
const SECOND_MS = 1000;

interface Sample {
  readonly atMs: number;
  readonly bytes: number;
}

export interface ProgressParts {
  readonly totalBytes: number;
  readonly onProgress: ((progress: TakeProgress) => void) | undefined;
  /** Of a clock that never goes back. */
  readonly nowMs: () => number;
}

export class ProgressMeter {
  readonly #parts: ProgressParts;
  /** Bytes that were moved in this run, oldest first. */
  #moved: Sample[];
  #movedBytes = 0;
  #doneBytes = 0;
  #reportedMs = Number.NEGATIVE_INFINITY;

  constructor(parts: ProgressParts) {
    this.#parts = parts;
    this.#moved = [{ atMs: parts.nowMs(), bytes: 0 }];
  }

  /** Bytes that came now; less than none: what came was of no use. */
  add(path: string, bytes: number): void {
    this.#doneBytes += bytes;
    if (bytes > 0) this.#movedBytes += bytes;
    this.#report(path);
  }

  /** Bytes of an earlier run: done, and no measure of speed. */
  addFound(path: string, bytes: number): void {
    this.#doneBytes += bytes;
    this.#report(path);
  }

  wait(path: string, waitMs: number): void {
    this.#tell(path, waitMs / SECOND_MS);
  }

  /** The last word, which is never left out. */
  end(path: string): void {
    this.#tell(path);
  }

  #report(path: string): void {
    if (this.#parts.nowMs() - this.#reportedMs >= REPORT_MS) this.#tell(path);
  }

  #tell(path: string, waitSeconds?: number): void {
    const { totalBytes, onProgress, nowMs } = this.#parts;
    this.#reportedMs = nowMs();
    const bytesPerSecond = this.#rate(this.#reportedMs);
    const leftBytes = totalBytes - this.#doneBytes;
    onProgress?.({
      path,
      doneBytes: this.#doneBytes,
      totalBytes,
      bytesPerSecond,
      secondsLeft: bytesPerSecond ? Math.ceil(leftBytes / bytesPerSecond) : undefined,
      ...(waitSeconds === undefined ? {} : { waitSeconds }),
    });
  }

  #rate(atMs: number): number | undefined {
    this.#moved.push({ atMs, bytes: this.#movedBytes });
    // The oldest one that is kept is the last from before the window.
    const firstInside = this.#moved.findIndex((sample) => sample.atMs > atMs - WINDOW_MS);
    this.#moved = this.#moved.slice(Math.max(firstInside - 1, 0));
    const [oldest] = this.#moved;
    const spanMs = atMs - (oldest?.atMs ?? atMs);
    return spanMs < SECOND_MS ? undefined : ((this.#movedBytes - (oldest?.bytes ?? 0)) / spanMs) * SECOND_MS;
  }
}
