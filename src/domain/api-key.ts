// An API key as the server knows it after authentication. The secret itself exists only in the caller's hands.

export type KeyScope = 'inference' | 'admin';

export interface ApiKey {
  readonly id: string;
  readonly name: string;
  /** First characters of the secret, safe to show: `ump_Ab3d`. */
  readonly visiblePrefix: string;
  /** Model ids the key may use; null: all. */
  readonly models: readonly string[] | null;
  readonly scopes: readonly KeyScope[];
  /** Milliseconds since the epoch. */
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
}

export function mayUseModel(key: ApiKey, modelId: string): boolean {
  return key.models === null || key.models.includes(modelId);
}
