import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isAddon, loadAddon } from './native.ts';

const loaded = await loadAddon();
const addon = isAddon(loaded) ? loaded : undefined;
const isLinux = process.platform === 'linux';

/** As the kernel tells it. */
function coresOfThread(): number[] {
  const [, list = ''] = /Cpus_allowed_list:\s*(\S+)/.exec(readFileSync('/proc/thread-self/status', 'utf8')) ?? [];
  return list.split(',').flatMap((range) => {
    const [first = Number.NaN, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}

describe.runIf(addon !== undefined && isLinux)('a thread and its cores', () => {
  const { allowedCores, bindThread, unbindThread } = addon ?? ({} as never);

  it('are what the kernel says', () => {
    expect(Array.from(allowedCores())).toEqual(coresOfThread());
  });

  it('are one core from binding to unbinding, and then what they were', () => {
    const before = coresOfThread();
    const core = before.at(-1) ?? 0;
    expect(bindThread(core)).toBe(true);
    expect(coresOfThread()).toEqual([core]);
    expect(bindThread(before[0] ?? 0), 'bound twice').toBe(false);
    expect(coresOfThread()).toEqual([core]);
    unbindThread();
    unbindThread();
    expect(coresOfThread()).toEqual(before);
  });

  it('stay what they are where the core is not there', () => {
    const before = coresOfThread();
    expect([1023, 1024, 1e9, Infinity].map((core) => bindThread(core))).toEqual([false, false, false, false]);
    for (const wrong of [-1, Number.NaN, '0', undefined]) expect(() => bindThread(wrong as number)).toThrow(TypeError);
    unbindThread();
    expect(coresOfThread()).toEqual(before);
  });
});

describe.runIf(addon !== undefined && !isLinux)('elsewhere a thread', () => {
  it('cannot be bound', () => {
    expect([addon?.allowedCores().length, addon?.bindThread(0)]).toEqual([0, false]);
    addon?.unbindThread();
  });
});
