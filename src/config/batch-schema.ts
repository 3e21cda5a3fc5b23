// Settings of runs that callers share on a device.

import { z } from 'zod';
import { milliseconds, settingNotes as note } from './setting-kinds.ts';

export const batch = z.strictObject({
  exact: z.boolean().default(false).register(note, {
    help: 'Whether each row has a run of its own on a device, too: the same bits whoever else asks, and far fewer answers a second. Otherwise calls that come together share runs, and a probability or a number of a vector may move by 0.001 at most (`x-umpire-tolerance` in the reply).',
  }),
  tokens: z.int().min(256).max(1_000_000).default(16_384).register(note, {
    help: 'What one run of a device takes at most, padding included.',
    unit: 'tokens',
  }),
  waitMs: milliseconds(0).default(2).register(note, {
    help: 'What a call waits for others to share its run while the device has work. An idle device waits for nobody.',
    unit: 'ms',
  }),
  inFlight: z.int().min(1).max(16).default(2).register(note, {
    help: 'Runs on a device at once, so that the next is there when one ends. A further worker reads texts meanwhile.',
  }),
  onCpu: z.boolean().default(false).register(note, {
    help: 'Whether runs are shared on the CPU, too, by models with fp32 graphs. It brings nothing there: it is how the tests of devices run without one.',
  }),
});
