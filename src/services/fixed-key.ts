// The key of the configuration: all models, all scopes, no end. It is in no store.

import { type ApiKey, NO_LIMITS } from '../domain/api-key.ts';
import { SERVER } from './actor.ts';
import type { FoundKey } from './key-cache.ts';
import { hashSecret, visiblePrefixOf } from './key-secret.ts';

const FIXED_KEY_ID = 'key_configured';

export function createFixedKey(secretText: string, nowMs: number): FoundKey {
  const visiblePrefix = visiblePrefixOf(secretText);
  const key: ApiKey = {
    id: FIXED_KEY_ID,
    name: 'from the configuration',
    visiblePrefix,
    models: null,
    scopes: ['inference', 'admin'],
    budget: null,
    limits: NO_LIMITS,
    createdAtMs: nowMs,
    createdBy: SERVER,
    expiresAtMs: null,
    disabledAtMs: null,
    revokedAtMs: null,
    lastUsedAtMs: null,
  };
  return { key, secret: { hash: hashSecret(secretText), visiblePrefix, createdAtMs: nowMs, expiresAtMs: null } };
}
