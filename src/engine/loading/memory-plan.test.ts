import { describe, expect, it } from 'vitest';
import { StartError } from '../../runtime/start-error.ts';
import { MemoryPlan, type PlannedModel } from './memory-plan.ts';

const MIB = 2 ** 20;
const model = (
  id: string,
  mebibytes: number,
  load: PlannedModel['load'] = 'start',
  loadingBytes = 0,
): PlannedModel => ({
  id,
  load,
  weightBytes: 0,
  loadingBytes,
  needBytes: mebibytes * MIB,
});
const plan = (models: readonly PlannedModel[], { cache = 0, budget = 1000 } = {}) =>
  new MemoryPlan({ models, cacheBytes: cache * MIB, budgetBytes: budget * MIB, workers: 4 });

describe('the plan of memory', () => {
  it('takes exactly what fits', () => {
    expect(plan([model('a', 600), model('b', 300)], { cache: 100 }).takenBytes).toBe(1000 * MIB);
    expect(() => plan([model('a', 600), model('b', 301)], { cache: 100 })).toThrow(StartError);
  });

  it('refuses what is loaded at the start and does not fit, with a table', () => {
    const refused = () => plan([model('a', 900), model('long-name', 1200.2, 'first-use')], { cache: 200 });
    expect(refused).toThrow(
      [
        'The models to load at the start, with the caches, may need 1,100 MiB, and there are 1,000 MiB for them (engine.memoryBytes):',
        '  a            900 MiB  at the start',
        '  long-name  1,201 MiB  first use',
        '  caches       200 MiB',
        '  loading        0 MiB  for a moment',
        'What helps: fewer workers than 4 (engine.workers),',
      ].join('\n'),
    );
  });

  it('refuses a model of first use that would never fit beside those of the start', () => {
    expect(() => plan([model('a', 600), model('b', 500, 'first-use')])).toThrow(
      'With b, the server may need 1,100 MiB',
    );
  });

  it('does not refuse for the sake of caches where nobody set the budget, and says what full ones lack', () => {
    const options = { models: [model('a', 900)], cacheBytes: 300 * MIB, budgetBytes: 1000 * MIB, workers: 4 };
    const loose = new MemoryPlan({ ...options, keepsRoomForCaches: false });
    expect([loose.takenBytes, loose.shortBytes]).toEqual([900 * MIB, 200 * MIB]);
    const refused = () => new MemoryPlan({ ...options, budgetBytes: 800 * MIB, keepsRoomForCaches: false });
    expect(refused).toThrow('The models to load at the start may need 900 MiB, and there are 800 MiB');
    expect(refused).not.toThrow('caches  ');
    expect(plan([model('a', 600)], { cache: 300 }).shortBytes).toBe(0);
  });

  it('keeps room for the largest load', () => {
    expect(plan([model('a', 300, 'start', 200 * MIB), model('b', 300, 'first-use', 400 * MIB)]).takenBytes).toBe(
      700 * MIB,
    );
  });

  it('gives room to the first that ask, and to others once it is given back', () => {
    const [b, c] = [model('b', 400, 'first-use'), model('c', 400, 'first-use')];
    const shared = plan([model('a', 500), b, c]);
    expect([shared.take(b), shared.take(c), shared.take(b)]).toEqual([true, false, true]);
    expect(shared.takenBytes).toBe(900 * MIB);
    shared.giveBack(b);
    expect(shared.take(c)).toBe(true);
  });
});
