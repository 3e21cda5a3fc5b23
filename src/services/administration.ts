// The services that only a server with a store has: keys, prices, reports, the audit trail.

import type { ApiKeyService } from './api-keys.ts';
import type { AuditService } from './audit.ts';
import type { PriceService } from './prices.ts';
import type { UsageService } from './usage.ts';

export interface Administration {
  readonly keys: ApiKeyService;
  readonly prices: PriceService;
  readonly usage: UsageService;
  readonly audit: AuditService;
}
