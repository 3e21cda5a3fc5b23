// What `umpire audit` asks of the services, and what it prints. Over doubles of the stores;
// test/process has the real ones.

import { describe, expect, it } from 'vitest';
import { NOON_MS, runOverStores } from './program-double.ts';

describe('umpire audit', () => {
  const record = { id: 7, atMs: NOON_MS, actor: 'command line', action: 'key.update', target: 'key_a' };
  const list = async () => [{ ...record, details: { name: 'changed', odd: '\u009b2J' } }];

  it('shows who did what, and lets nothing steer the terminal', async () => {
    const out = await runOverStores(['audit'], { audit: { list } });
    expect(out).toMatch(
      /^2026-11-21T12:00:00\.000Z +command line +key\.update +key_a +\{"name":"changed","odd":" 2J"\}$/m,
    );
  });

  it('keeps the details an object in JSON', async () => {
    expect(JSON.parse(await runOverStores(['audit', '--json'], { audit: { list } }))[0]).toMatchObject({
      id: 7,
      details: { name: 'changed' },
    });
  });
});
