// Authentication that asks nothing: one key for whoever calls.

import { type ApiKey, NO_LIMITS } from '../src/domain/api-key.ts';
import type { Authenticator } from '../src/http/authenticate.ts';

const KEY: ApiKey = {
  id: 'key_bench',
  name: 'bench',
  visiblePrefix: 'ump_',
  models: null,
  scopes: ['inference'],
  budget: null,
  limits: NO_LIMITS,
  createdAtMs: 0,
  createdBy: 'server',
  expiresAtMs: null,
  disabledAtMs: null,
  revokedAtMs: null,
  lastUsedAtMs: null,
};

export const letEverybodyIn: Authenticator = { authenticate: async () => KEY };
