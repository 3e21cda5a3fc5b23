// Authentication that asks nothing: one key for whoever calls.

import { unrestrictedKey } from '../../src/domain/api-key.ts';
import type { Authenticator } from '../../src/http/authenticate.ts';

const KEY = unrestrictedKey({ id: 'key_bench', name: 'bench' });

export const letEverybodyIn: Authenticator = { authenticate: async () => KEY };
