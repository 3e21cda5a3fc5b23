// What `umpire prices …` asks of the services, and what it prints. Over doubles of the stores;
// test/process has the real ones.

import { describe, expect, it } from 'vitest';
import { NOON_MS, runOverStores, type StoreDoubles } from './program-double.ts';

describe('umpire prices', () => {
  const price = { inputMicroUsd: 37_800, cachedInputMicroUsd: 37_800, outputMicroUsd: 0 };
  const dated = { modelId: 'kev', effectiveFromMs: NOON_MS, price, createdAtMs: NOON_MS, createdBy: 'command line' };

  it('set writes micro-dollars per million tokens, cached input as input', async () => {
    const seen: unknown[] = [];
    const prices: StoreDoubles['prices'] = {
      insert: async (wanted) => {
        seen.push(wanted);
        return true;
      },
      list: async () => [],
    };
    const out = await runOverStores(['prices', 'set', 'kev', '--input', '0.0378', '--output', '0'], { prices });
    expect(seen).toEqual([dated]);
    expect(out).toBe('Set the price of kev from 2026-11-21T12:00:00.000Z on.\n');
  });

  const listModels = async () => [
    { id: 'kev', type: 'decision' as const, description: '', source: 'models/kev', price },
    { id: 'my-chat', type: 'llm' as const, description: '', source: 'local', price: { ...price, outputMicroUsd: 1 } },
  ];
  const later = { ...dated, effectiveFromMs: NOON_MS + 1, price: { ...price, inputMicroUsd: 50_000 } };
  const other = { ...dated, modelId: 'gone' };
  const prices = { list: async () => [other, dated, later] };

  it('list shows what holds now, in dollars per million tokens', async () => {
    const out = await runOverStores(['prices', 'list'], { prices }, { listModels });
    expect(out).toBe(
      [
        'MODEL    INPUT   CACHED  OUTPUT    SOURCE  FROM',
        'kev      0.0378  0.0378  0         set     2026-11-21T12:00:00.000Z',
        'my-chat  0.0378  0.0378  0.000001  own     –',
        'gone     0.0378  0.0378  0         set     2026-11-21T12:00:00.000Z',
        '',
      ].join('\n'),
    );
    expect(JSON.parse(await runOverStores(['prices', 'list', '--json'], { prices }, { listModels }))[1]).toEqual({
      model: 'my-chat',
      input_usd: '0.0378',
      cached_input_usd: '0.0378',
      output_usd: '0.000001',
      source: 'own',
      effective_from: null,
    });
  });

  it('list --history shows what was set, the latest first', async () => {
    const out = await runOverStores(['prices', 'list', '--history', '--csv'], { prices });
    expect(out.split('\r\n')).toEqual([
      'model,input_usd,cached_input_usd,output_usd,effective_from,created_at,created_by',
      'kev,0.05,0.0378,0,2026-11-21T12:00:00.001Z,2026-11-21T12:00:00.000Z,command line',
      'kev,0.0378,0.0378,0,2026-11-21T12:00:00.000Z,2026-11-21T12:00:00.000Z,command line',
      'gone,0.0378,0.0378,0,2026-11-21T12:00:00.000Z,2026-11-21T12:00:00.000Z,command line',
      '',
    ]);
  });
});
