// A device that fails in the middle of a task: the models on it are opened once more, and the task is done again. Where that is
// in vain, or not for long, the device is lost to this process: most of its faults stay with a process until it ends.

import { messageOf } from '../domain/errors.ts';
import { DeviceLost } from './device-faults.ts';
import type { DeviceNews } from './load-report.ts';

/** A device that fails again so soon after it was opened anew has not come back. */
const REVIVED_FOR_MS = 60_000;

export interface DeviceRevivalOptions {
  /** Opens anew all that was open on the device. */
  readonly reopen: () => Promise<void>;
  readonly report: (news: DeviceNews) => void;
  /** Default: the system's, milliseconds from any fixed point. */
  readonly nowMs?: () => number;
}

export class DeviceRevival {
  readonly #options: DeviceRevivalOptions;
  #revivedMs = Number.NEGATIVE_INFINITY;
  #lost: DeviceLost | undefined;

  constructor(options: DeviceRevivalOptions) {
    this.#options = options;
  }

  /** @param task done a second time where the device failed @throws DeviceLost, and whatever the task throws */
  async during<T>(task: () => Promise<T>): Promise<T> {
    if (this.#lost !== undefined) throw this.#lost;
    try {
      return await task();
    } catch (error) {
      if (!(error instanceof DeviceLost)) throw error;
      await this.#revive(error);
    }
    try {
      return await task();
    } catch (error) {
      throw error instanceof DeviceLost ? this.#lose(error, messageOf(error.cause)) : error;
    }
  }

  async #revive(fault: DeviceLost): Promise<void> {
    const { reopen, report, nowMs = () => performance.now() } = this.#options;
    const reason = messageOf(fault.cause);
    if (nowMs() - this.#revivedMs < REVIVED_FOR_MS) throw this.#lose(fault, reason);
    report({ kind: 'device', state: 'failing', reason });
    try {
      await reopen();
    } catch (error) {
      throw this.#lose(fault, `${reason}; opened anew: ${messageOf(error)}`);
    }
    this.#revivedMs = nowMs();
    report({ kind: 'device', state: 'revived', reason });
  }

  #lose(fault: DeviceLost, reason: string): DeviceLost {
    this.#lost = fault;
    this.#options.report({ kind: 'device', state: 'lost', reason });
    return fault;
  }
}
