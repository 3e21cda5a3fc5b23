// The services that only a server with a store has: keys, prices, reports, the audit trail.

import type { ApiKeyService } from './keys/keys.ts';
import type { PriceService } from './prices.ts';
import type { AuditService } from './reports/audit.ts';
import type { UsageService } from './reports/usage.ts';

export interface Administration {
  readonly keys: ApiKeyService;
  readonly prices: PriceService;
  readonly usage: UsageService;
  readonly audit: AuditService;
}
