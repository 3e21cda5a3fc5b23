// The key of the configuration: all models, all scopes, no end. It is in no store.

import { unrestrictedKey } from '../../domain/api-key.ts';
import { SERVER } from '../../domain/audit.ts';
import type { FoundKey } from './key-cache.ts';
import { hashSecret, visiblePrefixOf } from './key-secret.ts';

const FIXED_KEY_ID = 'key_configured';

export function createFixedKey(secretText: string, nowMs: number): FoundKey {
  const visiblePrefix = visiblePrefixOf(secretText);
  const key = unrestrictedKey({
    id: FIXED_KEY_ID,
    name: 'from the configuration',
    visiblePrefix,
    scopes: ['inference', 'admin'],
    createdAtMs: nowMs,
    createdBy: SERVER,
  });
  return { key, secret: { hash: hashSecret(secretText), visiblePrefix, createdAtMs: nowMs, expiresAtMs: null } };
}
