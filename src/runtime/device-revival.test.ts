import { expect, it } from 'vitest';
import { DeviceLost } from './device-faults.ts';
import { DeviceRevival } from './device-revival.ts';
import type { DeviceNews } from './load-report.ts';

/** A device that fails the next so many tasks; and a clock. */
function setUp(reopen: () => Promise<void> = async () => undefined) {
  const news: DeviceNews['state'][] = [];
  const device = { faults: 0, runs: 0, nowMs: 0 };
  const revival = new DeviceRevival({
    reopen,
    report: ({ state }) => news.push(state),
    nowMs: () => device.nowMs,
  });
  const ask = () =>
    revival.during(async () => {
      device.runs += 1;
      if (device.faults === 0) return 'answer';
      device.faults -= 1;
      throw new DeviceLost(new Error('CUDA failure 700'));
    });
  return { device, news, revival, ask };
}

it('does a task again when the device was opened anew', async () => {
  const { device, news, ask } = setUp();
  device.faults = 1;
  expect(await ask()).toBe('answer');
  expect([device.runs, news]).toEqual([2, ['failing', 'revived']]);
});

it('loses a device that fails the same task again', async () => {
  const { device, news, ask } = setUp();
  device.faults = 2;
  await expect(ask()).rejects.toBeInstanceOf(DeviceLost);
  expect([device.runs, news]).toEqual([2, ['failing', 'revived', 'lost']]);
  await expect(ask()).rejects.toBeInstanceOf(DeviceLost);
  expect([device.runs, news.length]).toEqual([2, 3]);
});

it('loses a device that cannot be opened', async () => {
  const { device, news, ask } = setUp(async () => Promise.reject(new Error('no such device')));
  device.faults = 1;
  await expect(ask()).rejects.toMatchObject({ code: 'model_unavailable' });
  expect([device.runs, news]).toEqual([1, ['failing', 'lost']]);
});

it('loses a device that fails again within a minute, and not one that fails later', async () => {
  for (const [afterMs, states] of [
    [59_000, ['lost']],
    [61_000, ['failing', 'revived']],
  ] as const) {
    const { device, news, ask } = setUp();
    device.faults = 1;
    await ask();
    device.nowMs += afterMs;
    device.faults = 1;
    await ask().catch(() => undefined);
    expect(news).toEqual(['failing', 'revived', ...states]);
  }
});

it('leaves every other failure to whoever asked', async () => {
  const { revival, news } = setUp();
  await expect(revival.during(() => Promise.reject(new Error('too long')))).rejects.toThrow('too long');
  expect(news).toEqual([]);
});
