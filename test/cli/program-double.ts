// The program around a command, as a double that keeps what was said. Whatever a test does not name must not be reached.

import { expect } from 'vitest';
import type { Program } from '../../src/cli/program.ts';
import { runCommand } from '../../src/cli/run-command.ts';
import { type ApiKey, NO_LIMITS } from '../../src/domain/api-key.ts';
import type { Administration } from '../../src/services/administration.ts';
import { AuditService } from '../../src/services/audit.ts';
import { ApiKeyService, type ApiKeyServiceOptions } from '../../src/services/keys/keys.ts';
import { PriceService, type PriceServiceOptions } from '../../src/services/prices.ts';
import { UsageService, type UsageServiceOptions } from '../../src/services/reports/reports.ts';

const NO_SUCH_PLACE = (): never => {
  throw new Error('The command should not have come this far.');
};

/** What of the stores a test needs. */
export interface StoreDoubles {
  readonly keys?: Partial<ApiKeyServiceOptions['store']>;
  readonly prices?: Partial<PriceServiceOptions['store']>;
  readonly usage?: Partial<UsageServiceOptions['usage']>;
  readonly ledger?: Partial<UsageServiceOptions['ledger']>;
  readonly audit?: Partial<ConstructorParameters<typeof AuditService>[0]>;
}

/** @param nowMs the clock of the services */
export function servicesOver(stores: StoreDoubles, nowMs?: () => number): Administration {
  const clock = nowMs === undefined ? {} : { nowMs };
  return {
    keys: new ApiKeyService({ store: guarded(stores.keys), ...clock }),
    prices: new PriceService({ store: guarded(stores.prices), ...clock }),
    usage: new UsageService({ usage: guarded(stores.usage), ledger: guarded(stores.ledger), ...clock }),
    audit: new AuditService(guarded(stores.audit)),
  };
}

function guarded<Store extends object>(given: Partial<Store> = {}): Store {
  return new Proxy(given, { get: (target, name) => Reflect.get(target, name) ?? NO_SUCH_PLACE }) as Store;
}

export function program(parts: Partial<Program> = {}) {
  const said = { out: '', error: '' };
  const whole: Program = {
    version: '1.2.3',
    settingFlags: [
      { name: 'port', type: 'string', help: 'Port to listen on.' },
      { name: 'models', type: 'string', help: 'Models to load.' },
    ],
    writeOut: (text) => {
      said.out += text;
    },
    writeError: (text) => {
      said.error += text;
    },
    isTerminal: false,
    findTerminal: () => undefined,
    columns: 100,
    paint: (_style, text) => text,
    readStdin: async () => 'from standard input',
    readLine: NO_SUCH_PLACE,
    findFailure: () => undefined,
    openStdin: NO_SUCH_PLACE,
    pipeOut: async (text) => {
      said.out += text;
    },
    progressColumns: undefined,
    onInterrupt: () => () => undefined,
    clientSettings: { url: undefined, apiKey: undefined },
    describeConfig: NO_SUCH_PLACE,
    listConfig: NO_SUCH_PLACE,
    serve: NO_SUCH_PLACE,
    withServices: NO_SUCH_PLACE,
    storeTools: {
      targetDatabaseUrl: undefined,
      backup: NO_SUCH_PLACE,
      restore: NO_SUCH_PLACE,
      check: NO_SUCH_PLACE,
      copy: NO_SUCH_PLACE,
    },
    diagnose: NO_SUCH_PLACE,
    listModels: NO_SUCH_PLACE,
    listModelIds: NO_SUCH_PLACE,
    verifyModels: NO_SUCH_PLACE,
    openModelSources: NO_SUCH_PLACE,
    openGpuInstaller: NO_SUCH_PLACE,
    startLocalServer: NO_SUCH_PLACE,
    findDecisionModel: NO_SUCH_PLACE,
    learnModel: NO_SUCH_PLACE,
    ...parts,
  };
  return { whole, said };
}

export const NOON_MS = Date.UTC(2026, 10, 21, 12);

export const KEY: ApiKey = {
  id: 'key_a',
  name: 'billing',
  visiblePrefix: 'ump_Ab3d',
  models: ['kev', 'gpt-*'],
  scopes: ['inference'],
  budget: { amountPicoUsd: 12_500_000_000_000n, reset: 'month' },
  limits: { ...NO_LIMITS, requestsPerMinute: 600 },
  createdAtMs: NOON_MS,
  createdBy: 'command line',
  expiresAtMs: null,
  disabledAtMs: null,
  revokedAtMs: null,
  lastUsedAtMs: null,
};

/** Runs a command that succeeds, at noon. @returns what it printed */
export async function runOverStores(
  args: readonly string[],
  stores: StoreDoubles,
  parts: Partial<Program> = {},
): Promise<string> {
  const { whole, said } = program({
    withServices: (_flags, use) => use(servicesOver(stores, () => NOON_MS)),
    ...parts,
  });
  const code = await runCommand(args, whole);
  expect(said.error).toBe('');
  expect(code).toBe(0);
  return said.out;
}
