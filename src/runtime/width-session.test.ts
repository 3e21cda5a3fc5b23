import { describe, expect, it } from 'vitest';
import type { GraphSession } from './session.ts';
import { RunWidth, WidthSession } from './width-session.ts';

function named(name: string, ran: string[]): GraphSession {
  const note = (what: string) => {
    ran.push(`${name} ${what}`);
  };
  return {
    outputs: ['logits'],
    run: async () => {
      note('run');
      return {};
    },
    runInto: async () => note('runInto'),
    close: async () => note('close'),
  };
}

/** A thread that may run on these cores, and where it runs now. */
function threadOf(cores: readonly number[]) {
  const thread = {
    bound: undefined as number | undefined,
    allowedCores: () => Int32Array.from(cores),
    bindThread: (core: number) => {
      if (!cores.includes(core)) return false;
      thread.bound = core;
      return true;
    },
    unbindThread: () => {
      thread.bound = undefined;
    },
  };
  return thread;
}

describe('a graph at two widths', () => {
  it('runs with all threads for a wide task, and with one for others', async () => {
    const ran: string[] = [];
    const width = new RunWidth(2, threadOf([0, 1]));
    const session = new WidthSession(named('narrow', ran), named('wide', ran), width);
    await session.run({});
    await width.during(true, async () => {
      await session.run({});
      await session.runInto({}, {});
    });
    await width.during(false, () => session.runInto({}, {}));
    await session.close();
    expect(ran).toEqual(['narrow run', 'wide run', 'wide runInto', 'narrow runInto', 'narrow close', 'wide close']);
  });
});

describe('a wide task', () => {
  it('has its thread on the first core until it ends, well or not', async () => {
    const thread = threadOf([4, 7]);
    const width = new RunWidth(2, thread);
    expect(width.cores).toEqual([4, 7]);
    expect(await width.during(true, async () => [thread.bound, width.isWideNow])).toEqual([4, true]);
    expect([thread.bound, width.isWideNow]).toEqual([undefined, false]);
    const failing = width.during(true, async () => {
      throw new Error('a fault');
    });
    await expect(failing).rejects.toThrow('a fault');
    expect([thread.bound, width.isWideNow]).toEqual([undefined, false]);
  });

  it.each([
    ['where nothing can bind a thread', new RunWidth(2, undefined)],
    ['where the system does not say which cores there are', new RunWidth(2, threadOf([]))],
    ['where there are more cores than threads: which are free is not known', new RunWidth(2, threadOf([0, 1, 2]))],
    ['where there are fewer', new RunWidth(2, threadOf([1]))],
    ['where there is one thread', new RunWidth(1, threadOf([1]))],
    ['where the core was taken away since', new RunWidth(2, { ...threadOf([0, 1]), bindThread: () => false })],
  ])('is narrow %s', async (_where, width) => {
    expect(await width.during(true, async () => width.isWideNow)).toBe(false);
  });
});

describe('the proof that width changes no answer', () => {
  it('asks at both widths, and allows wide runs where they agree to the bit', async () => {
    const width = new RunWidth(2, threadOf([0, 1]));
    const asked: boolean[] = [];
    const agrees = await width.prove(async () => {
      asked.push(width.isWideNow);
      return [Float32Array.of(0.1, 0.2)];
    });
    expect([agrees, asked, width.isAllowed]).toEqual([true, [false, true], true]);
    expect(await width.during(true, async () => width.isWideNow)).toBe(true);
  });

  it('keeps runs narrow where one bit differs', async () => {
    const width = new RunWidth(2, threadOf([0, 1]));
    const agrees = await width.prove(async () => [0.3, width.isWideNow ? 0.1 + 0.2 : 0.3]);
    expect([agrees, width.isAllowed]).toEqual([false, false]);
    expect(await width.during(true, async () => width.isWideNow)).toBe(false);
  });
});
