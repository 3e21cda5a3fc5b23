// Whether a key counts at a moment, and if not, why. Pure.

import type { ApiKey } from '../../domain/api-key.ts';

export type KeyState = 'active' | 'disabled' | 'expired' | 'revoked';

export function keyStateOf(key: ApiKey, nowMs: number): KeyState {
  if (key.revokedAtMs !== null) return 'revoked';
  if (isOver(key.expiresAtMs, nowMs)) return 'expired';
  return key.disabledAtMs === null ? 'active' : 'disabled';
}

export function isOver(endsAtMs: number | null, nowMs: number): boolean {
  return endsAtMs !== null && endsAtMs <= nowMs;
}
