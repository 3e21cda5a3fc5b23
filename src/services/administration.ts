// The services that only a server with a store has: keys, prices, reports, the audit trail.

import type { AuditService } from './audit.ts';
import type { ApiKeyService } from './keys/keys.ts';
import type { PriceService } from './prices.ts';
import type { UsageService } from './reports/reports.ts';

export interface Administration {
  readonly keys: ApiKeyService;
  readonly prices: PriceService;
  readonly usage: UsageService;
  readonly audit: AuditService;
}
